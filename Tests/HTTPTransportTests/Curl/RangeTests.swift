import HTTPTransport
import HTTPTypes
import TestSupport
import Testing

/// The remainder of an interrupted transfer, from a server that supports ranges and entity tags.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct RangeTests {
    private static let file = pattern(2 << 20)

    /// The part of a file received before the server was stopped, and the server, which is not running.
    private func brokenTransfer() async throws -> (NginxServer, Recorder.Record) {
        let server = try NginxServer()
        try server.write(Self.file, to: "a")
        try await server.start("server { listen 127.0.0.1:\(server.ports[0]); limit_rate 40k; }")
        let recorder = Recorder()
        let transport = CurlTransport(configuration: .init(proxy: .none))
        let transfer = try transport.start("http://127.0.0.1:\(server.ports[0])/a", recorder)
        await recorder.wait { $0.body.count > 10_000 }
        server.stop()
        let record = await recorder.end()
        #expect(record.error?.reason == .truncated(expected: Self.file.count, received: record.body.count))
        #expect(record.body.elementsEqual(Self.file.prefix(record.body.count)))
        withExtendedLifetime(transfer) {}
        return (server, record)
    }

    private func rest(_ server: NginxServer, after record: Recorder.Record) async throws -> Recorder.Record {
        let tag = try #require(record.head?.response.headerFields[.eTag])
        #expect(tag.hasPrefix("\""))
        try await server.start("server { listen 127.0.0.1:\(server.ports[0]); }")
        let transport = CurlTransport(configuration: .init(proxy: .none))
        return try await transport.fetch("http://127.0.0.1:\(server.ports[0])/a") {
            $0.headerFields[.range] = "bytes=\(record.body.count)-"
            $0.headerFields[.ifRange] = tag
        }
    }

    @Test func rangeRequestForAnUnchangedFileReturnsTheRemainder() async throws {
        let (server, broken) = try await brokenTransfer()
        let rest = try await rest(server, after: broken)
        #expect(rest.head?.status == .partialContent)
        let range = "bytes \(broken.body.count)-\(Self.file.count - 1)/\(Self.file.count)"
        #expect(rest.head?.response.headerFields[.contentRange] == range)
        #expect(broken.body + rest.body == Self.file)
    }

    @Test func rangeRequestForAChangedFileReturnsTheWholeFile() async throws {
        let (server, broken) = try await brokenTransfer()
        let other = Array(Self.file.reversed()) + [1]
        try server.write(other, to: "a")
        let whole = try await rest(server, after: broken)
        #expect(whole.head?.status == .ok)
        #expect(whole.body == other)
    }
}
