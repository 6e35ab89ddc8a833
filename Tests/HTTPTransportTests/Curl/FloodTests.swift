import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

/// Endless responses over plain HTTP/1.1.
@Suite(.timeLimit(.minutes(1)))
struct PlainFloodTests {
    private static let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test func anEndlessChunkExtensionEndsItsTransfer() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", .raw(Self.chunked + "1;").followed(by: "x", .endlessly))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .invalidResponse)
            #expect(record.error?.detail == "too many bytes between two chunks")
        }
    }

    @Test func aBodyInChunksOfAByteArrivesWhole() async throws {
        try await withOrigin { (origin, transport) async throws in
            let count = 400_000
            origin.route(
                "/a", .raw(Self.chunked).followed(by: "1\r\na\r\n", .times(count)).followed(by: "0\r\n\r\n"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.isComplete, "\(String(describing: record.error))")
            #expect(record.body == [UInt8](repeating: UInt8(ascii: "a"), count: count))
        }
    }

    @Test func endlessOneByteChunksDoNotDelayOtherTransfers() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/flood", .raw(Self.chunked).followed(by: "1\r\na\r\n", .endlessly))
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let flooded = Recorder()
            let flood = try transport.start(origin.url("/flood"), flooded)
            await flooded.wait { $0.body.count > 10_000 }
            for _ in 0..<20 { #expect(try await transport.fetch(origin.url("/a")).body == [1]) }
            #expect(flooded.record.outcomes.isEmpty)
            flood.cancel()
            #expect(await flooded.end().error?.reason == .cancelled)
        }
    }
}

/// HTTP/2: frames that belong to no response.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct FloodTests {
    /// Returns whether an error is the expected end of a flooded transfer.
    private static func isEnd(_ error: TransportError?) -> Bool {
        error?.reason == .invalidResponse && error?.detail == "endless data that belongs to no response"
    }

    @Test func endlessEmptyFramesDoNotDelayOtherTransfers() async throws {
        let server = try await FloodingServer()
        try await withOrigin(
            .init(proxy: .none, tls: .init(certificateAuthorityFile: server.certificateAuthorityFile))
        ) { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let flooded = Recorder()
            _ = try transport.start("https://127.0.0.1:\(server.port)/", flooded) {
                $0.deadlines.total = .seconds(50)
            }
            while flooded.record.outcomes.isEmpty, !Task.isCancelled {
                #expect(try await transport.fetch(origin.url("/a")).body == [1])
            }
            let record = await flooded.end()
            #expect(Self.isEnd(record.error), "\(String(describing: record.error))")
            #expect(try await transport.fetch(origin.url("/a")).body == [1])
        }
    }

    /// All transfers fail, because they share the connection.
    @Test func allTransfersOfAFloodedConnectionFail() async throws {
        let server = try await FloodingServer()
        let transport = CurlTransport(
            configuration: .init(
                proxy: .none, tls: .init(certificateAuthorityFile: server.certificateAuthorityFile)))
        let errors = try await withThrowingTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    let url = "https://127.0.0.1:\(server.port)/\(number)"
                    return try await transport.fetch(url) { $0.deadlines.total = .seconds(50) }.error
                }
            }
            return try await group.reduce(into: [TransportError?]()) { $0.append($1) }
        }
        // A transfer about to use that connection can be notified that it is gone.
        #expect(errors.allSatisfy { $0 != nil } && errors.contains(where: Self.isEnd), "\(errors)")
    }
}
