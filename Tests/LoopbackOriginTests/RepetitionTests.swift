import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RepetitionTests {
    typealias Response = LoopbackOrigin.Response

    private static let closing = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"

    /// Returns the bytes sent in response to `request`, up to the end of the connection.
    private func wire(_ response: Response, request: String = closing) async throws -> String {
        try await withLoopbackOrigin { origin in
            origin.route("/", response)
            let client = try RawClient(port: origin.port)
            client.send(request)
            return await client.readToEnd().text
        }
    }

    @Test func repeatedBytesFollowTheBodyAndCountForItsLength() async throws {
        let wire = try await wire(Response(body: Array("0123".utf8)).followed(by: "ab", .times(3)).followed(by: "."))
        #expect(wire == "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nConnection: close\r\n\r\n0123ababab.")
    }

    @Test func zeroRepetitionsSendNoBytes() async throws {
        let wire = try await wire(
            Response().followed(by: "", .endlessly).followed(by: "a", .times(0)).followed(by: "b", .times(-1)))
        #expect(wire.hasSuffix("Content-Length: 0\r\nConnection: close\r\n\r\n"))
    }

    @Test func repeatedBytesAreTheSameWhereverPiecesEnd() async throws {
        let unit = "0123456789abc"
        let wire = try await wire(.raw("").followed(by: unit, .times(30_000)))
        let isRepeated = wire == String(repeating: unit, count: 30_000)
        #expect(isRepeated)
    }

    @Test func cutPointIncludesRepeatedBytes() async throws {
        let wire = try await wire(
            Response(body: Array("01".utf8), framing: .chunked).followed(by: "abc", .endlessly).cut(at: .body(7)))
        #expect(wire.hasSuffix("\r\n\r\n2\r\n01\r\n5\r\nabcab\r\n"))
    }

    @Test func repeatedBytesAreSentAtThePace() async throws {
        let wire = try await wire(
            Response(framing: .chunked).followed(by: "abc", .times(2)).paced(bytesPerSecond: 1_000_000, chunk: 4))
        #expect(wire.hasSuffix("\r\n\r\n4\r\nabca\r\n2\r\nbc\r\n0\r\n\r\n"))
    }

    @Test func copiesWithPausesAreSentOneByOne() async throws {
        let wire = try await wire(
            Response(body: [0x30], framing: .chunked).followed(by: "ab", .times(2), every: .milliseconds(1)))
        #expect(wire.hasSuffix("\r\n\r\n1\r\n0\r\n2\r\nab\r\n2\r\nab\r\n0\r\n\r\n"))
    }

    @Test func pauseComesBeforeEachCopy() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response().followed(by: "a", .times(5), every: .milliseconds(20)))
            let client = try RawClient(port: origin.port)
            let duration = await ContinuousClock().measure {
                client.get("/")
                _ = await client.read(through: "aaaaa")
            }
            #expect(duration >= .milliseconds(100))
        }
    }

    @Test(arguments: [Response.Framing.contentLength, .untilClose, .chunked, .raw])
    func endlessBodyLastsUntilTheClientLeaves(framing: Response.Framing) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response(framing: framing).followed(by: [0], .endlessly))
            do {
                let client = try RawClient(port: origin.port)
                client.get("/")
                let text = await client.read(atLeast: 1 << 20)
                let hasLength = text.contains("Content-Length")
                #expect(!hasLength)
                #expect(origin.counts.runningRequests == 1)
            }
            await origin.openConnections(become: 0)
            #expect(origin.counts.runningRequests == 0)
        }
    }

    @Test func endlessBodyWaitsForItsReader() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response().followed(by: [0], .endlessly))
            origin.route("/other", Response(body: [66]))
            let client = try RawClient(port: origin.port, receiveBuffer: 16_384)
            client.get("/")
            await origin.bodyBytesSent(to: "/", reach: 1)
            // Served on the same thread after everything the first one can take.
            let other = try RawClient(port: origin.port)
            other.get("/other")
            _ = await other.read(through: "B")
            #expect(origin.counts.bodyBytesSent["/", default: 0] < 32 << 20)
            withExtendedLifetime(client) {}
        }
    }

    @Test func endlessBodyDoesNotStarveOtherRequests() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response().followed(by: [UInt8](repeating: 0, count: 1_000), .endlessly))
            origin.route("/other", Response(body: [66]))
            let quick = try RawClient(port: origin.port)
            let reading = Task {
                quick.get("/")
                while !Task.isCancelled { _ = await quick.read(atLeast: 1 << 20) }
            }
            await origin.bodyBytesSent(to: "/", reach: 16 << 20)
            defer { reading.cancel() }
            for _ in 0..<20 { try #require(await isServed("/other", by: origin)) }
        }
    }

    @Test func endlessBodyReadMoreQuicklyThanItIsSentDoesNotStarveOtherRequests() async throws {
        try await withLoopbackOrigin { origin in
            // The interim responses fill the buffers of the connection, so that the origin waits for the client. It
            // sends the small chunks after them more slowly than the client reads.
            var response = Response(framing: .chunked).followed(by: [0], .endlessly)
            response = response.preceded(by: .init(status: 102), .times(1_000_000))
            response.chunkFormat.maximumSize = 1
            origin.route("/", response)
            origin.route("/other", Response(body: [66]))
            let quick = try RawClient(port: origin.port)
            quick.get("/")
            for _ in 0..<100 { try #require(await isServed("/other", by: origin)) }
            let reading = Task {
                while !Task.isCancelled { _ = await quick.read(atLeast: 1 << 20) }
            }
            await origin.bodyBytesSent(to: "/", reach: 1)
            defer { reading.cancel() }
            for _ in 0..<20 { try #require(await isServed("/other", by: origin)) }
        }
    }

    private func isServed(_ path: String, by origin: LoopbackOrigin) async throws -> Bool {
        let client = try RawClient(port: origin.port)
        client.get(path)
        return await client.read(through: "B").hasSuffix("B")
    }

    @Test func endlessHeadNeverEnds() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", .raw("HTTP/1.1 200 OK\r\n").followed(by: "X: a\r\n", .endlessly))
            let client = try RawClient(port: origin.port)
            client.get("/")
            let text = await client.read(atLeast: 1 << 20)
            #expect(text.prefix(32).hasPrefix("HTTP/1.1 200 OK\r\nX: a\r\nX: a\r\n"))
            let isOver = text.contains("\r\n\r\n")
            #expect(!isOver)
        }
    }

    @Test func interimAnswersAreSentInTheirNumberBeforeTheHead() async throws {
        var response = Response(body: [0x42]).preceded(by: .init(status: 102), .times(3))
        response.interim = [.init(headerFields: ["Link": "</a>"])]
        let wire = try await wire(response)
        #expect(
            wire == "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                + String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 3)
                + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nB")
    }

    @Test func interimResponsesCanBeSentEndlessly() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response().preceded(by: .init(status: 102), .endlessly, every: .milliseconds(1)))
            let client = try RawClient(port: origin.port)
            client.get("/")
            let interim = "HTTP/1.1 102 Processing\r\n\r\n"
            #expect(await client.read(atLeast: 3 * interim.count).hasPrefix(interim + interim + interim))
        }
    }

    @Test func trailersFollowTheLastChunk() async throws {
        let wire = try await wire(
            Response(body: [0x42], framing: .chunked).trailed(by: "A: b\r\n", .times(2)).trailed(by: "none\r\n"))
        #expect(wire.hasSuffix("\r\n1\r\nB\r\n0\r\nA: b\r\nA: b\r\nnone\r\n\r\n"))
    }

    @Test func endlessTrailersLastUntilTheClientLeaves() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/", Response(framing: .chunked).trailed(by: "X: a\r\n", .endlessly))
            do {
                let client = try RawClient(port: origin.port)
                client.get("/")
                let hasTrailers = await client.read(atLeast: 1 << 20).contains("\r\n\r\n0\r\nX: a\r\nX: a\r\n")
                #expect(hasTrailers)
                #expect(origin.counts.bodyBytesSent["/", default: 0] == 0)
            }
            await origin.openConnections(become: 0)
        }
    }

    @Test func headResponsesHaveNoRepetitionsOrTrailers() async throws {
        let wire = try await wire(
            Response(framing: .chunked).followed(by: "a", .endlessly).trailed(by: "A: b\r\n"),
            request: "HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(wire == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
    }

    @Test func firstFieldLineMayBeFolded() async throws {
        let wire = try await wire(Response(headerFields: [" folded": "x", "A": "b\r\n c"]))
        #expect(wire.hasPrefix("HTTP/1.1 200 OK\r\n folded: x\r\nA: b\r\n c\r\nContent-Length: 0\r\n"))
    }
}
