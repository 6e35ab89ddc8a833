import HTTPTypes
import Testing

@testable import HTTPTransport

/// Servers that send much, and nothing that belongs to a response.
struct HTTP2FloodTests {
    /// Sends `frame` repeatedly until the session fails; returns the number of bytes sent.
    private func flood(
        _ exchange: HTTP2Exchange, with frame: HTTP2Frame, readingAnswers: Bool = true
    ) -> Int {
        let piece = Array(repeating: frame.bytes, count: max(1, 4_096 / frame.bytes.count)).flatMap { $0 }
        var count = 0
        while exchange.failure == nil, count < 4 << 20 {
            if readingAnswers { _ = exchange.takeOutput() }
            exchange.receive(piece)
            count += piece.count
        }
        return count
    }

    private static let uselessFrames: [HTTP2Frame] = [
        .ping, .settings(), .settings([(3, 100)]), .settings([(4, 1)]), .data([]), .priority(),
        HTTP2Frame(type: 6, flags: 1, payload: Array(repeating: 0, count: 8)), .windowUpdate(1, stream: 1),
        HTTP2Frame(type: 10, payload: [0]), HTTP2Frame(type: 200, stream: 1, payload: Array(repeating: 0, count: 500)),
        .data([3, 0, 0, 0], HTTP2Frame.padded), .goAway(lastStream: 1), .windowUpdate(1), .data([1], stream: 3),
    ]

    @Test(arguments: uselessFrames.indices)
    func framesWithoutProgressCloseTheConnection(index: Int) throws {
        let exchange = try HTTP2Exchange.open(streams: 2)
        exchange.receive(
            .headers([(":status", "200")]), .headers([(":status", "200")], stream: 3), .reset(8, stream: 3))
        let callCount = exchange.callCount
        let count = flood(exchange, with: Self.uselessFrames[index])
        guard case .flood = exchange.failure else {
            Issue.record("\(String(describing: exchange.failure))")
            return
        }
        #expect(count <= HTTP2Session.maximumUnproductiveBytes + 4_096)
        #expect(exchange.callCount == callCount)
        #expect(exchange.takeOutput().suffix(8) == [0, 0, 0, 0, 0, 0, 0, 11], "GOAWAY is sent")
    }

    @Test(arguments: [HTTP2Frame.ping, .settings()])
    func unreadAnswersAreFew(frame: HTTP2Frame) throws {
        let exchange = try HTTP2Exchange.open()
        let count = flood(exchange, with: frame, readingAnswers: false)
        guard case .flood = exchange.failure else {
            Issue.record("\(String(describing: exchange.failure))")
            return
        }
        #expect(count < 30_000)
        #expect(exchange.takeOutput().count < 30_000)
    }

    @Test func bodyThatArrivesInSingleBytesIsProgress() throws {
        let exchange = try HTTP2Exchange.open()
        exchange.receive(.headers([(":status", "200")]))
        let count = flood(exchange, with: .data([1]))
        #expect(exchange.failure == nil)
        #expect(exchange.bodies[1]?.count ?? 0 > count / 11)
    }

    @Test(arguments: [0, 100, 16_384])
    func headerBlockWithoutEndClosesTheConnection(size: Int) throws {
        let exchange = try HTTP2Exchange.open()
        exchange.receive(.headers([(":status", "200")], 0))
        let count = flood(exchange, with: .continuation(Array(repeating: 0x88, count: size)))
        guard case .flood = exchange.failure else {
            Issue.record("\(String(describing: exchange.failure))")
            return
        }
        #expect(count < 200_000 && exchange.lines.isEmpty)
    }

    /// The line that makes the head too large is delivered, so that the parser refuses it.
    @Test func headThatExpandsEndsItsStreamAlone() throws {
        let exchange = try HTTP2Exchange.open(streams: 2)
        var parser = ResponseHeadParser()
        // An indexed field of 4,000 bytes, and references to it of one byte each.
        let field = [0x40] + HTTP2Frame.string([0x61]) + HTTP2Frame.string(Array(repeating: 0x62, count: 4_000))
        let block = [0x88] + field + [UInt8](repeating: 0xBE, count: 10_000)
        exchange.receive(HTTP2Frame(type: 1, flags: 4, stream: 1, payload: block))
        let text = try #require(exchange.lines[1]?.first)
        #expect(exchange.lines[1]?.count == 1)
        #expect(text.utf8.count > ResponseHeadParser.limit && text.utf8.count < ResponseHeadParser.limit + 5_000)
        var refusals = 0
        for line in text.split(separator: "\r\n", omittingEmptySubsequences: true) {
            if case .refused(.headerTooLarge, _) = parser.append(Array("\(line)\r\n".utf8).span) { refusals += 1 }
        }
        #expect(refusals == 1)
        #expect(exchange.ends == [1: .invalid(.internalError)] && exchange.failure == nil)
        exchange.receive(.headers([(":status", "200"), ("a", "1")], 0x5, stream: 3))
        #expect(exchange.ends[3] == .complete, "the compression state is intact")
    }

    @Test func endlessInterimResponsesReachTheDelegate() throws {
        let exchange = try HTTP2Exchange.open()
        exchange.onCall = { [session = exchange.session] stream in
            if exchange.callCount == 10 { session.cancel(stream) }
        }
        let count = flood(exchange, with: .headers([(":status", "103")]))
        exchange.onCall = { _ in }
        #expect(exchange.lines[1]?.count == 10)
        guard case .flood = exchange.failure else {
            Issue.record("\(String(describing: exchange.failure))")
            return
        }
        // What the peer may have sent of the body is allowed for.
        #expect(count < 3 << 20)
    }

    /// The peer may send a whole window before it learns that a stream is canceled.
    @Test func remainderOfCanceledStreamsIsNoFlood() throws {
        let exchange = try HTTP2Exchange.open(streams: 5)
        for stream in [1, 3, 5, 7] as [Int32] {
            exchange.receive(.headers([(":status", "200")], stream: stream))
            exchange.session.cancel(stream)
        }
        let part = [UInt8](repeating: 0, count: 16_000)
        for _ in 0..<60 {
            for stream in [1, 3, 5, 7] as [Int32] { exchange.receive(.data(part, stream: stream)) }
        }
        exchange.receive(.headers([(":status", "200")], 0x5, stream: 9))
        #expect(exchange.failure == nil && exchange.ends == [9: .complete])
        #expect(flood(exchange, with: .ping) <= (5 << 20) + 4_096)
    }

    @Test func resetsOfAllStreamsAreNoFlood() throws {
        let exchange = try HTTP2Exchange.open(streams: 0)
        for _ in 0..<1_000 {
            let stream = try exchange.open()
            _ = exchange.takeOutput()
            exchange.receive(.reset(8, stream: stream))
            #expect(exchange.ends[stream] == .reset(.cancel))
        }
        #expect(exchange.failure == nil && exchange.session.streamCount == 0)
    }
}
