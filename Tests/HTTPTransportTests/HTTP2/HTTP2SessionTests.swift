import HTTPTypes
import Testing

@testable import HTTPTransport

/// Exchanges with a correct server.
struct HTTP2SessionTests {
    private let exchange: HTTP2Exchange
    private let peer = HTTP2Peer()

    init() throws {
        exchange = try HTTP2Exchange()
    }

    /// Sends a request, and returns its stream.
    private func send(
        _ url: String = "https://a.example/", _ change: (inout TransportRequest) -> Void = { _ in }
    ) throws -> Int32 {
        let stream = try exchange.open(url, change)
        exchange.run(with: peer)
        return stream
    }

    // MARK: - Requests

    @Test(arguments: [
        ("https://example.org/", "https", "example.org", "/"),
        ("https://example.org/a/b?c=d", "https", "example.org", "/a/b?c=d"),
        ("https://example.org:8443/a", "https", "example.org:8443", "/a"),
        ("https://example.org:443/a", "https", "example.org", "/a"),
        ("https://example.org:80/", "https", "example.org:80", "/"),
        ("http://example.org:443/", "http", "example.org:443", "/"),
        ("https://example.org?a", "https", "example.org", "/?a"), ("https://[::1]:81/a", "https", "[::1]:81", "/a"),
        ("https://user:secret@example.org/a#b", "https", "example.org", "/a"),
    ])
    func requestNamesSchemeAuthorityAndPath(url: String, scheme: String, authority: String, path: String) throws {
        let stream = try send(url)
        let fields = try #require(peer.requests[stream]).map { "\($0.name): \($0.value)" }
        #expect(
            fields == [
                ":method: GET", ":scheme: \(scheme)", ":authority: \(authority)", ":path: \(path)", "accept: */*",
            ])
        #expect(peer.completed == [stream], "the request has no body")
    }

    @Test func fieldsOfTheConnectionAreNotSent() throws {
        let stream = try send { request in
            request.method = .head
            request.headerFields = [.accept: "image/*", .userAgent: "me", .te: "trailers"]
            for name in [
                "Host", "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade",
                "Content-Length", "HTTP2-Settings",
            ] {
                if let name = HTTPField.Name(name) { request.headerFields[name] = "1" }
            }
        }
        let fields = try #require(peer.requests[stream]).map { "\($0.name): \($0.value)" }
        #expect(fields.first == ":method: HEAD")
        #expect(fields.dropFirst(4).sorted() == ["accept: image/*", "te: trailers", "user-agent: me"])
    }

    @Test func transferCodingsAreNotRequested() throws {
        let stream = try send { $0.headerFields[.te] = "gzip" }
        #expect(try #require(peer.requests[stream]).allSatisfy { $0.name != "te" })
    }

    @Test func secretsNeverEnterCompressionTables() throws {
        let stream = try send { request in
            request.headerFields = [
                .authorization: "Basic abc", .cookie: "a=b", .proxyAuthorization: "c", .userAgent: "me",
            ]
        }
        let secrets = try #require(peer.requests[stream]).filter { !$0.isIndexed }.map(\.name)
        #expect(secrets.sorted() == ["authorization", "cookie", "proxy-authorization"])
    }

    @Test func fieldsOfAnEarlierRequestAreNotRepeated() throws {
        let streams = [
            try send("https://a.example/first") { $0.headerFields = [.accept: "a", .userAgent: "me"] },
            try send("https://a.example/2") { $0.headerFields = [.accept: "a", .userAgent: "me"] },
            try send("https://a.example/3"),
        ]
        let values = streams.map { peer.requests[$0, default: []].dropFirst(3).map(\.value) }
        #expect(values == [["/first", "a", "me"], ["/2", "a", "me"], ["/3", "*/*"]])
        #expect(streams == [1, 3, 5])
    }

    @Test func settingsForbidPushAndLimitHeaders() throws {
        exchange.run(with: peer)
        #expect(peer.settings == [2: 0, 4: 1 << 20, 6: UInt32(ResponseHeadParser.limit)])
    }

    // MARK: - Responses

    @Test(arguments: [1, 2, 7, 100, Int.max])
    func responseConsistsOfLinesBodyAndEnd(size: Int) throws {
        let stream = try send()
        let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        peer.respond(to: stream, [(":status", "200"), ("content-type", "image/png"), ("empty", "")], body: body)
        exchange.run(with: peer, inPiecesOf: size)
        #expect(exchange.lines[stream] == ["HTTP/2 200 \r\ncontent-type: image/png\r\nempty: \r\n\r\n"])
        #expect(exchange.bodies[stream] == body)
        #expect(exchange.ends == [stream: .complete])
        #expect(exchange.session.streamCount == 0)
        #expect(exchange.session.canOpenStream && !exchange.session.isDraining)
    }

    @Test func responseWithoutABodyIsComplete() throws {
        let stream = try send()
        peer.respond(to: stream, [(":status", "404")])
        exchange.run(with: peer)
        #expect(exchange.lines[stream] == ["HTTP/2 404 \r\n\r\n"])
        #expect(exchange.bodies.isEmpty)
        #expect(exchange.ends == [stream: .complete])
    }

    @Test func interimResponsesPrecedeTheFinalOne() throws {
        let stream = try send()
        peer.inform(stream, [(":status", "103"), ("link", "a")])
        peer.respond(to: stream, [(":status", "200")], body: [1])
        exchange.run(with: peer)
        #expect(exchange.lines[stream] == ["HTTP/2 103 \r\nlink: a\r\n\r\n", "HTTP/2 200 \r\n\r\n"])
        #expect(exchange.ends == [stream: .complete])
    }

    @Test func trailersHaveNoStatusLine() throws {
        let stream = try send()
        peer.respond(to: stream, [(":status", "200")], body: [1, 2], trailers: [("checksum", "3")])
        exchange.run(with: peer)
        #expect(exchange.lines[stream] == ["HTTP/2 200 \r\n\r\n", "checksum: 3\r\n\r\n"])
        #expect(exchange.bodies[stream] == [1, 2])
        #expect(exchange.ends == [stream: .complete])
    }

    @Test(arguments: [("HEAD", "200"), ("GET", "304")])
    func lengthOfAResponseThatHasNoBodyIsNotExpected(method: String, status: String) throws {
        let stream = try send { $0.method = HTTPRequest.Method(method) ?? .get }
        peer.respond(to: stream, [(":status", status), ("content-length", "5")])
        exchange.run(with: peer)
        #expect(exchange.lines[stream] == ["HTTP/2 \(status) \r\ncontent-length: 5\r\n\r\n"])
        #expect(exchange.ends == [stream: .complete])
    }

    @Test func responsesAreInterleaved() throws {
        let streams = try (0..<10).map { try send("https://a.example/\($0)") }
        for (index, stream) in streams.enumerated() {
            peer.respond(to: stream, [(":status", "200")], body: Array(repeating: UInt8(index), count: 200_000))
        }
        exchange.run(with: peer)
        for (index, stream) in streams.enumerated() {
            #expect(exchange.bodies[stream] == Array(repeating: UInt8(index), count: 200_000))
            #expect(exchange.ends[stream] == .complete)
        }
    }

    // MARK: - Ends

    @Test func resetStreamEndsWithItsCode() throws {
        let streams = [try send(), try send(), try send()]
        peer.inform(streams[1], [(":status", "200")])
        peer.reset(streams[0], 2)
        peer.reset(streams[1], 0)
        peer.reset(streams[2], 7)
        exchange.run(with: peer)
        #expect(
            exchange.ends == [streams[0]: .reset(.internalError), streams[1]: .reset(.noError), streams[2]: .refused])
    }

    @Test func streamForWhichHTTP1IsRequiredEndsSoUnlessItHasAResponse() throws {
        let streams = [try send(), try send()]
        peer.inform(streams[1], [(":status", "103")])
        exchange.run(with: peer)
        for stream in streams { peer.reset(stream, 13) }
        exchange.run(with: peer)
        #expect(exchange.ends == [streams[0]: .requiresHTTP1, streams[1]: .reset(.http11Required)])
    }

    @Test(arguments: [("too_many_pings", "too_many_pings"), ("a\u{7}b", ""), (String(repeating: "x", count: 101), "")])
    func explanationOfGoAwayIsKeptIfItIsShortAndPrintable(text: String, expected: String) throws {
        _ = try send()
        peer.goAway(lastStream: 1, 11, text)
        exchange.run(with: peer)
        #expect(exchange.session.peerClose == HTTP2Close(.enhanceYourCalm, data: expected.utf8))
    }

    @Test func streamWithAResponseIsNotRefused() throws {
        let stream = try send()
        peer.inform(stream, [(":status", "200")])
        exchange.run(with: peer)
        peer.reset(stream, 7)
        exchange.run(with: peer)
        #expect(exchange.ends == [stream: .reset(.refusedStream)])
    }

    @Test func goAwayRefusesLaterStreams() throws {
        let streams = [try send(), try send(), try send()]
        peer.goAway(lastStream: streams[1])
        exchange.run(with: peer)
        #expect(exchange.ends == [streams[2]: .refused])
        #expect(exchange.session.isDraining && !exchange.session.canOpenStream)
        #expect(exchange.session.peerClose?.code == .noError)
        for stream in streams.dropLast() { peer.respond(to: stream, [(":status", "200")], body: [1]) }
        exchange.run(with: peer)
        #expect(exchange.ends == [streams[0]: .complete, streams[1]: .complete, streams[2]: .refused])
        #expect(exchange.session.streamCount == 0)
        #expect(throws: HTTP2Failure.noStream) { try exchange.open() }
    }

    @Test func requestThatIsNotSentBeforeGoAwayIsRefused() throws {
        let first = try send()
        let second = try exchange.open()
        peer.goAway(lastStream: first)
        exchange.receive(peer.takeOutput())
        #expect(exchange.ends == [second: .refused])
        _ = exchange.takeOutput()
        #expect(exchange.ends == [second: .refused])
    }

    @Test func canceledStreamIsReportedToThePeerOnly() throws {
        let streams = [try send(), try send()]
        let body = [UInt8](repeating: 1, count: 50_000)
        for stream in streams { peer.respond(to: stream, [(":status", "200")], body: body) }
        exchange.onCall = { [session = exchange.session] in if $0 == streams[0] { session.cancel($0) } }
        exchange.run(with: peer)
        #expect(exchange.lines[streams[0]]?.count == 1)
        #expect(exchange.bodies[streams[0]] == nil && exchange.ends[streams[0]] == nil)
        #expect(exchange.ends[streams[1]] == .complete)
        #expect(peer.ends[streams[0]] == 8 || peer.sentCount(of: streams[0]) == 50_000)
        exchange.onCall = { _ in }
    }

    @Test func requestThatIsCanceledAtOnceIsNotSent() throws {
        exchange.run(with: peer)
        exchange.session.cancel(try exchange.open())
        let next = try send()
        #expect(Set(peer.requests.keys) == [next])
        #expect(exchange.session.streamCount == 1)
        exchange.session.cancel(99)
    }

    @Test func streamsCanBeOpenedWithinCalls() throws {
        let first = try send()
        var opened: [Int32] = []
        exchange.onCall = { [exchange] _ in if opened.isEmpty { opened.append((try? exchange.open()) ?? 0) } }
        peer.respond(to: first, [(":status", "200")])
        exchange.run(with: peer)
        #expect(opened == [3] && peer.completed == [1, 3])
        exchange.onCall = { _ in }
    }

    // MARK: - Limits

    @Test func peerLimitsTheNumberOfStreams() throws {
        let (exchange, peer) = (try HTTP2Exchange(), HTTP2Peer(maximumStreams: 2))
        exchange.run(with: peer)
        let first = try exchange.open()
        #expect(exchange.session.canOpenStream)
        _ = try exchange.open()
        #expect(!exchange.session.canOpenStream && !exchange.session.isDraining)
        #expect(throws: HTTP2Failure.noStream) { try exchange.open() }
        exchange.session.cancel(first)
        #expect(exchange.session.canOpenStream)
        _ = try exchange.open()
        exchange.run(with: peer)
        #expect(exchange.failure == nil && exchange.ends.isEmpty)
    }

    @Test func limitOnStreamsIsUnknownBeforeThePeersSettings() throws {
        #expect(!exchange.session.hasPeerSettings && exchange.session.canOpenStream)
        exchange.run(with: peer)
        #expect(exchange.session.hasPeerSettings)
    }

    @Test func largeRequestIsContinuedInFurtherFrames() throws {
        let stream = try send { $0.headerFields[.userAgent] = String(repeating: "x", count: 40_000) }
        #expect(peer.completed == [stream])
        #expect(peer.requests[stream]?.last?.value.utf8.count == 40_000)
    }

    /// The size of a field includes 32 bytes (RFC 9113, section 6.5.2).
    @Test func requestHasAMaximumSize() throws {
        let size =
            "a.example".utf8.count + "/".utf8.count + "GET".utf8.count + "https".utf8.count
            + ":method:scheme:authority:path".utf8.count + "accept*/*user-agent".utf8.count + 6 * 32
        let limit = HTTP2Session.maximumRequestSize
        let largest = try send { $0.headerFields[.userAgent] = String(repeating: "x", count: limit - size) }
        #expect(peer.completed == [largest])
        #expect(throws: HTTP2Failure.requestTooLarge(limit: limit)) {
            try send { $0.headerFields[.userAgent] = String(repeating: "x", count: limit - size + 1) }
        }
        #expect(exchange.failure == nil && exchange.session.streamCount == 1)
        let next = try send()
        #expect(peer.completed == [largest, next])
    }

    @Test func requestIsNotLargerThanThePeerAccepts() throws {
        exchange.run(with: peer)
        exchange.receive(.settings([(6, 1_000)]))
        #expect(throws: HTTP2Failure.requestTooLarge(limit: 1_000)) {
            try exchange.open { $0.headerFields[.userAgent] = String(repeating: "x", count: 1_000) }
        }
        _ = try exchange.open()
        #expect(exchange.failure == nil && exchange.session.streamCount == 1)
    }

    @Test func numberOfStreamsHasAMaximum() throws {
        exchange.run(with: peer)
        for _ in 0..<HTTP2Session.maximumStreams { _ = try exchange.open() }
        #expect(!exchange.session.canOpenStream)
        #expect(exchange.session.streamCount == HTTP2Session.maximumStreams)
    }

    @Test func bytesThatCannotBeSentAreKept() throws {
        let stream = try exchange.open("https://a.example/" + String(repeating: "a", count: 1_000))
        var isFirst = true
        exchange.session.sendPending { _ in 0 }
        #expect(exchange.session.wantsToSend)
        var bytes: [UInt8] = []
        while exchange.session.wantsToSend {
            exchange.session.sendPending { piece in
                isFirst.toggle()
                let count = isFirst ? 0 : min(7, piece.count)
                bytes.append(copying: piece.extracting(0..<count))
                return count
            }
        }
        #expect(peer.receive(bytes) && peer.completed == [stream])
    }
}
