import HTTPTypes
import Testing

@testable import HTTPTransport

/// Frames that violate the protocol, and what becomes of the connection.
struct HTTP2ViolationTests {
    private static let zeros = [UInt8](repeating: 0, count: 8)
    private static let ok = HTTP2Frame.headers([(":status", "200")])
    private static let endOfHead = HTTP2Frame.endHeaders | HTTP2Frame.endStream

    /// Frames and the code that answers them.
    struct Violation: CustomTestStringConvertible {
        let testDescription: String
        let frames: [HTTP2Frame]
        let code: HTTP2ErrorCode

        init(_ name: String, _ frames: [HTTP2Frame], _ code: HTTP2ErrorCode) {
            testDescription = name
            self.frames = frames
            self.code = code
        }

        var bytes: [UInt8] { frames.flatMap(\.bytes) }
    }

    /// Frames that close the connection.
    private static let connectionErrors: [Violation] = [
        Violation("DATA in stream 0", [.data([1], stream: 0)], .protocolError),
        Violation("DATA before the head", [.data([1])], .protocolError),
        Violation("DATA in an idle stream", [.data([1], stream: 3)], .protocolError),
        Violation("HEADERS in stream 0", [.headers([(":status", "200")], stream: 0)], .protocolError),
        Violation("HEADERS in an idle stream", [.headers([(":status", "200")], stream: 3)], .protocolError),
        Violation("HEADERS in a stream of the server", [.headers([(":status", "200")], stream: 2)], .protocolError),
        Violation("too long frame", [HTTP2Frame(type: 0, stream: 1, statedLength: 16_385)], .frameSizeError),
        Violation("SETTINGS of a wrong size", [HTTP2Frame(type: 4, payload: [0, 1, 0, 0, 0])], .frameSizeError),
        Violation("SETTINGS in a stream", [HTTP2Frame(type: 4, stream: 1)], .protocolError),
        Violation(
            "acknowledgment with settings", [HTTP2Frame(type: 4, flags: 1, payload: [0, 3, 0, 0, 0, 1])],
            .frameSizeError),
        Violation("too large window in SETTINGS", [.settings([(4, 1 << 31)])], .flowControlError),
        Violation("too small frames in SETTINGS", [.settings([(5, 1)])], .protocolError),
        Violation("server that allows push", [.settings([(2, 1)])], .protocolError),
        Violation("PING of a wrong size", [HTTP2Frame(type: 6, payload: [0])], .frameSizeError),
        Violation("PING in a stream", [HTTP2Frame(type: 6, stream: 1, payload: zeros)], .protocolError),
        Violation("WINDOW_UPDATE of a wrong size", [HTTP2Frame(type: 8, payload: [0, 0, 1])], .frameSizeError),
        Violation("WINDOW_UPDATE by 0", [.windowUpdate(0)], .protocolError),
        Violation("WINDOW_UPDATE by 0 in a stream", [.windowUpdate(0, stream: 1)], .protocolError),
        Violation("WINDOW_UPDATE in an idle stream", [.windowUpdate(1, stream: 3)], .protocolError),
        Violation("overflow of the connection's window", [.windowUpdate(0x7FFF_FFFF)], .flowControlError),
        Violation("RST_STREAM of a wrong size", [HTTP2Frame(type: 3, stream: 1, payload: [0, 0, 0])], .frameSizeError),
        Violation("RST_STREAM in stream 0", [.reset(0, stream: 0)], .protocolError),
        Violation("RST_STREAM in an idle stream", [.reset(0, stream: 3)], .protocolError),
        Violation("PRIORITY in stream 0", [.priority(stream: 0)], .protocolError),
        Violation("GOAWAY of a wrong size", [HTTP2Frame(type: 7, payload: [0, 0, 0, 0, 0, 0, 0])], .frameSizeError),
        Violation("GOAWAY in a stream", [HTTP2Frame(type: 7, stream: 1, payload: zeros)], .protocolError),
        Violation("GOAWAY with a stream of the server", [.goAway(lastStream: 2)], .protocolError),
        Violation("GOAWAY with a growing stream", [.goAway(lastStream: 1), .goAway(lastStream: 3)], .protocolError),
        Violation("CONTINUATION without HEADERS", [.continuation([], HTTP2Frame.endHeaders)], .protocolError),
        Violation("DATA inside a header block", [.headers([(":status", "200")], 0), .data([1])], .protocolError),
        Violation(
            "CONTINUATION of another stream",
            [.headers([(":status", "200")], 0), .continuation([], HTTP2Frame.endHeaders, stream: 3)], .protocolError
        ),
        Violation("more padding than DATA", [ok, .data([9, 1], HTTP2Frame.padded)], .protocolError),
        Violation("padded DATA of no size", [ok, .data([], HTTP2Frame.padded)], .protocolError),
        Violation(
            "index of no field", [HTTP2Frame(type: 1, flags: 4, stream: 1, payload: [0xFF, 0x80, 0x01])],
            .compressionError),
        Violation(
            "truncated header block", [HTTP2Frame(type: 1, flags: 4, stream: 1, payload: [0, 9, 1])], .compressionError),
        Violation(
            "too large compression table",
            [HTTP2Frame(type: 1, flags: 4, stream: 1, payload: [0x3F, 0xE1, 0xFF, 0x03])],
            .compressionError
        ),
        Violation(
            "field of more than 64 KiB",
            [.headers([(":status", "200")], 0)]
                + [0x00, 0x01, 0x61, 0x7F, 0x82, 0xFF, 0x03].withContinuations(of: 70_000), .compressionError
        ),
        Violation(
            "PUSH_PROMISE",
            [HTTP2Frame(type: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2] + HTTP2Frame.block([(":path", [0x2F])]))],
            .protocolError
        ),
    ]

    // nghttp2 counts a frame header of CONTINUATION as many times as it has pieces, at most 8.
    @Test(arguments: connectionErrors, [3, Int.max])
    func violationClosesTheConnection(violation: Violation, size: Int) throws {
        let code = violation.code
        let exchange = try HTTP2Exchange.open()
        exchange.receive(violation.bytes, inPiecesOf: size)
        guard let failure = exchange.failure, case .violation(let actual, _) = failure else {
            Issue.record("\(String(describing: exchange.failure)), \(exchange.ends)")
            return
        }
        #expect(actual == code)
        #expect(!failure.detail.hasSuffix(": "), "nghttp2 does not state a reason for each violation")
        #expect(exchange.session.isDraining && !exchange.session.canOpenStream)
        let output = exchange.takeOutput()
        #expect(output.count >= 17 && output[3] == 7, "GOAWAY is sent")
        #expect(output.dropFirst(13).prefix(4) == [0, 0, 0, UInt8(code.rawValue)])
        #expect(exchange.ends.isEmpty)
        #expect(throws: failure) { try exchange.session.receive([1].span) }
        #expect(throws: failure) { try exchange.open() }
        #expect(!exchange.session.wantsToSend)
    }

    @Test(arguments: [HTTP2Frame.data([]), .ping, .settingsAcknowledgment, .headers([(":status", "200")])])
    func firstFrameMustBeSettings(frame: HTTP2Frame) throws {
        let exchange = try HTTP2Exchange()
        _ = try exchange.open()
        _ = exchange.takeOutput()
        exchange.receive(frame)
        #expect(exchange.failure?.code == .protocolError)
    }

    @Test(arguments: ["HTTP/1.1 400 Bad Request\r\n\r\n", "\u{15}\u{3}\u{1}\0\u{2}\u{2}\n\0\0\0\0\0\0\0\0\0\0"])
    func otherProtocolClosesTheConnection(text: String) throws {
        let exchange = try HTTP2Exchange()
        _ = exchange.takeOutput()
        exchange.receive(Array(text.utf8), inPiecesOf: 1)
        #expect(exchange.failure?.code != nil)
    }

    /// Frames that end the stream alone.
    private static let streamErrors: [Violation] = [
        Violation("head without a status", [.headers([("a", "1")])], .protocolError),
        Violation("empty head", [.headers([])], .protocolError),
        Violation("invalid status", [.headers([(":status", "2000")])], .protocolError),
        Violation("two statuses", [.headers([(":status", "200"), (":status", "200")])], .protocolError),
        Violation("status after a field", [.headers([("a", "1"), (":status", "200")])], .protocolError),
        Violation("pseudo field of a request", [.headers([(":status", "200"), (":path", "/")])], .protocolError),
        Violation("unknown pseudo field", [.headers([(":status", "200"), (":a", "/")])], .protocolError),
        Violation("uppercase name", [.headers([(":status", "200"), ("Content-Type", "a")])], .protocolError),
        Violation("Connection", [.headers([(":status", "200"), ("connection", "close")])], .protocolError),
        Violation("Keep-Alive", [.headers([(":status", "200"), ("keep-alive", "1")])], .protocolError),
        Violation(
            "Transfer-Encoding", [.headers([(":status", "200"), ("transfer-encoding", "chunked")])], .protocolError),
        Violation("Upgrade", [.headers([(":status", "200"), ("upgrade", "a")])], .protocolError),
        Violation("switch of protocols", [.headers([(":status", "101")])], .protocolError),
        Violation("invalid length", [.headers([(":status", "200"), ("content-length", "5a")])], .protocolError),
        Violation(
            "two lengths", [.headers([(":status", "200"), ("content-length", "5"), ("content-length", "5")])],
            .protocolError),
        Violation("length of 204", [.headers([(":status", "204"), ("content-length", "5")])], .protocolError),
        Violation(
            "more than the length", [.headers([(":status", "200"), ("content-length", "2")]), .data([1, 2, 3])],
            .protocolError
        ),
        Violation(
            "less than the length",
            [.headers([(":status", "200"), ("content-length", "2")]), .data([1], HTTP2Frame.endStream)], .protocolError
        ),
        Violation("body of 204", [.headers([(":status", "204")]), .data([1])], .protocolError),
        Violation("end after an interim response", [.headers([(":status", "103")], endOfHead)], .protocolError),
        Violation("body after an interim response", [.headers([(":status", "103")]), .data([1])], .protocolError),
        Violation("trailers that do not end the stream", [ok, .headers([("a", "1")])], .protocolError),
        Violation("two heads", [ok, ok], .protocolError),
        Violation("status in trailers", [ok, .headers([(":status", "200")], endOfHead)], .protocolError),
        Violation("overflow of the stream's window", [.windowUpdate(0x7FFF_FFFF, stream: 1)], .flowControlError),
    ]

    @Test(arguments: streamErrors, [1, Int.max])
    func invalidResponseEndsItsStreamAlone(violation: Violation, size: Int) throws {
        let code = violation.code
        let exchange = try HTTP2Exchange.open(streams: 2)
        exchange.receive(violation.bytes, inPiecesOf: size)
        #expect(exchange.failure == nil)
        #expect(exchange.ends == [1: .invalid(code)])
        let output = exchange.takeOutput()
        #expect(output == HTTP2Frame.reset(code.rawValue).bytes)
        exchange.receive(
            .headers([(":status", "200")], stream: 3), .data([1, 2], HTTP2Frame.endStream, stream: 3))
        #expect(exchange.ends[3] == .complete && exchange.bodies[3] == [1, 2])
    }

    @Test func invalidFieldIsNamedForItsStream() throws {
        let exchange = try HTTP2Exchange.open(streams: 3)
        exchange.receive(
            .headers([(":status", "200"), ("connection", "close")]), .headers([(":status", "101")], stream: 3),
            .headers([(":status", "200"), ("keep-alive", String(repeating: "1", count: 1_000))], stream: 5))
        #expect(exchange.faults[1]?.contains("name: [connection], value: [close]") == true)
        #expect(exchange.faults[3]?.contains("[:status], value: [101]") == true)
        #expect(exchange.faults[5]?.count == 200)
    }

    @Test func bodyOfAResponseToHeadIsInvalid() throws {
        let exchange = try HTTP2Exchange()
        _ = try exchange.open { $0.method = .head }
        _ = exchange.takeOutput()
        exchange.receive(.settings(), Self.ok, .data([1]))
        #expect(exchange.ends == [1: .invalid(.protocolError)] && exchange.bodies.isEmpty)
    }

    @Test(arguments: [
        [0x61, 0x0D], [0x0A, 0x61], [0x61, 0x0D, 0x0A, 0x62], [0x61, 0, 0x62], [0x7F], [0x1B], [0x20],
    ])
    func fieldWithAControlCharacterOrAnOuterSpaceEndsTheStream(value: [UInt8]) throws {
        let exchange = try HTTP2Exchange.open()
        let fields = [(":status", Array("200".utf8)), ("a", value)]
        exchange.receive(HTTP2Frame(type: 1, flags: 4, stream: 1, payload: HTTP2Frame.block(fields)))
        #expect(exchange.lines.isEmpty && exchange.ends == [1: .invalid(.protocolError)])
    }

    @Test func tabsAndBytesThatAreNotASCIIAreValidInFields() throws {
        let exchange = try HTTP2Exchange.open()
        let fields = [(":status", Array("200".utf8)), ("a", [0x31, 0x09, 0xE9])]
        exchange.receive(HTTP2Frame(type: 1, flags: 4, stream: 1, payload: HTTP2Frame.block(fields)))
        #expect(exchange.lines[1] == ["HTTP/2 200 \r\na: 1\t\u{FFFD}\r\n\r\n"])
    }

    @Test(arguments: ["", "a b", "a:", "a\r", "ä", "a\0"])
    func fieldWithAnInvalidNameEndsTheStream(name: String) throws {
        let exchange = try HTTP2Exchange.open()
        exchange.receive(.headers([(":status", "200"), (name, "1"), ("b", "2")]))
        #expect(exchange.lines.isEmpty && exchange.ends == [1: .invalid(.protocolError)])
    }

    @Test(arguments: ["20", "abc", "2 0", "200\r", ""])
    func statusMustHaveThreeDigits(status: String) throws {
        let exchange = try HTTP2Exchange.open()
        exchange.receive(.headers([(":status", status)]))
        #expect(exchange.ends == [1: .invalid(.protocolError)] && exchange.lines.isEmpty)
    }

    @Test func paddingIsNoPartOfTheBody() throws {
        let exchange = try HTTP2Exchange.open()
        let padding = [UInt8](repeating: 0, count: 200)
        let head = HTTP2Frame.headers([(":status", "200")])
        exchange.receive(
            HTTP2Frame(type: 1, flags: 0xC, stream: 1, payload: [200] + head.payload + padding),
            .data([200, 1, 2] + padding, HTTP2Frame.padded), .data([1, 0], HTTP2Frame.padded | HTTP2Frame.endStream),
            inPiecesOf: 3)
        #expect(exchange.bodies[1] == [1, 2] && exchange.ends == [1: .complete])
    }

    @Test func headerBlockCanBeContinued() throws {
        let exchange = try HTTP2Exchange.open()
        let block = HTTP2Frame.headers([(":status", "200"), ("a", "b")]).payload
        exchange.receive(
            HTTP2Frame(type: 1, flags: HTTP2Frame.endStream, stream: 1, payload: Array(block.prefix(3))),
            .continuation(Array(block.dropFirst(3).prefix(5))),
            .continuation(Array(block.dropFirst(8)), HTTP2Frame.endHeaders), inPiecesOf: 3)
        #expect(exchange.lines[1] == ["HTTP/2 200 \r\na: b\r\n\r\n"] && exchange.ends == [1: .complete])
    }

    @Test func goAwayWithAnErrorIsKept() throws {
        let exchange = try HTTP2Exchange.open(streams: 2)
        exchange.receive(.goAway(lastStream: 0x7FFF_FFFF, 0))
        #expect(exchange.session.isDraining && exchange.ends.isEmpty)
        exchange.receive(.goAway(lastStream: 3, 11), .goAway(lastStream: 1, 2))
        #expect(exchange.failure == nil && exchange.session.isDraining)
        #expect(exchange.session.peerClose?.code == .internalError)
        #expect(exchange.ends == [3: .refused])
    }

    @Test func framesOfEndedStreamsAreIgnored() throws {
        let exchange = try HTTP2Exchange.open(streams: 2)
        exchange.receive(.headers([(":status", "200")], Self.endOfHead))
        exchange.session.cancel(3)
        let callCount = exchange.callCount
        exchange.receive(.headers([(":status", "200")], stream: 3), .data([1, 2], stream: 3), .reset(0, stream: 3))
        _ = exchange.takeOutput()
        exchange.receive(.data([1], HTTP2Frame.endStream, stream: 3), .reset(0), .windowUpdate(1))
        #expect(exchange.failure == nil && exchange.callCount == callCount)
    }

    @Test func streamNumbersEnd() throws {
        let exchange = try HTTP2Exchange.open(streams: 0)
        exchange.session.setNextStream(0x7FFF_FFFF)
        #expect(try exchange.open() == 0x7FFF_FFFF)
        #expect(exchange.session.isDraining && !exchange.session.canOpenStream)
        #expect(throws: HTTP2Failure.noStream) { try exchange.open() }
        _ = exchange.takeOutput()
        exchange.receive(.headers([(":status", "200")], Self.endOfHead, stream: 0x7FFF_FFFF))
        #expect(exchange.ends == [0x7FFF_FFFF: .complete])
    }
}

extension HTTP2Failure {
    fileprivate var code: HTTP2ErrorCode? {
        guard case .violation(let code, _) = self else { return nil }
        return code
    }
}

extension [UInt8] {
    /// Returns CONTINUATION frames with the bytes and as many others.
    fileprivate func withContinuations(of count: Int) -> [HTTP2Frame] {
        var rest = self + [UInt8](repeating: 0x61, count: count)
        var frames: [HTTP2Frame] = []
        while !rest.isEmpty {
            frames.append(.continuation(Array(rest.prefix(16_384))))
            rest.removeFirst(Swift.min(rest.count, 16_384))
        }
        return frames
    }
}
