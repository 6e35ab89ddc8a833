import Testing

@testable import HTTPTransport

struct HTTP1ResponseReaderTests {
    /// The result of reading a response to its end.
    private struct Reading: Equatable {
        var lines: [String] = []
        var body = ""
        var isComplete = false
        var allowsReuse = false
        var fault: String?
        /// The number of bytes after the response.
        var extraCount = 0
    }

    /// Reads `text`, which arrives in pieces of `size` bytes.
    private func read(_ text: String, inPiecesOf size: Int = .max, isHead: Bool = false) -> Reading {
        var reader = HTTP1ResponseReader(isHead: isHead)
        var reading = Reading()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty, !reading.isComplete, reading.fault == nil {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            let left = read(piece, with: &reader, &reading)
            if reading.isComplete { reading.extraCount = left + rest.count }
        }
        reading.allowsReuse = reader.allowsReuse
        return reading
    }

    /// Reads one piece, and returns the number of bytes that are left.
    private func read(_ piece: [UInt8], with reader: inout HTTP1ResponseReader, _ reading: inout Reading) -> Int {
        var position = 0
        while true {
            switch reader.next(in: piece.span, at: &position) {
            case .needsMore:
                return 0
            case .lines(let range):
                let lines = piece[range].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                #expect(lines.last?.isEmpty == true, "the last line is complete")
                reading.lines += lines.dropLast().map { String(decoding: $0, as: UTF8.self) + "\n" }
            case .joinedLine:
                reading.lines.append(String(decoding: reader.joinedLine, as: UTF8.self))
            case .body(let range):
                reading.body += String(decoding: piece[range], as: UTF8.self)
            case .complete:
                reading.isComplete = true
                return piece.count - position
            case .invalid(let fault):
                reading.fault = fault
                return 0
            }
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", nil), ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", 3),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", nil), ("HTTP/1.1 200 OK\r\n\r\nab", .max),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", nil),
    ])
    func bytesThatFollowAreKnownInsideABodyThatIsNotChunked(text: String, count: Int?) {
        var (reader, reading) = (HTTP1ResponseReader(), Reading())
        _ = read(Array(text.utf8), with: &reader, &reading)
        #expect(reader.missingBodyCount == count)
    }

    @Test func skippedBytesOfABodyAreNotExpectedInTheInput() {
        var (reader, reading) = (HTTP1ResponseReader(), Reading())
        _ = read(Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na".utf8), with: &reader, &reading)
        reader.skipBody(2)
        #expect(reader.missingBodyCount == 2)
        _ = read(Array("d".utf8), with: &reader, &reading)
        reader.skipBody(1)
        #expect(read([], with: &reader, &reading) == 0)
        #expect(reading.body == "ad" && reading.isComplete && reader.allowsReuse)
    }

    @Test func skippingBytesOfABodyOfUnknownLengthDoesNotEndIt() {
        var (reader, reading) = (HTTP1ResponseReader(), Reading())
        _ = read(Array("HTTP/1.1 200 OK\r\n\r\na".utf8), with: &reader, &reading)
        reader.skipBody(100_000)
        #expect(reader.missingBodyCount == .max)
        #expect(reader.endInput() == .complete)
    }

    @Test func responseWithALengthIsSplitIntoLinesAndBody() {
        let reading = read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd")
        #expect(reading.lines == ["HTTP/1.1 200 OK\r\n", "Content-Length: 3\r\n", "\r\n"])
        #expect(reading.body == "abc")
        #expect(reading.isComplete && reading.allowsReuse)
        #expect(reading.extraCount == 1)
    }

    @Test func responseInChunksIsSplitIntoLinesBodyAndTrailers() {
        let reading = read(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0A \r\n0123456789\r\n0\r\nA: 1\r\n\r\n"
        )
        #expect(reading.lines.suffix(3) == ["\r\n", "A: 1\r\n", "\r\n"])
        #expect(reading.body == "abc0123456789")
        #expect(reading.isComplete && reading.allowsReuse)
    }

    @Test func linesBeforeAnInvalidOneAreReturned() {
        let reading = read("HTTP/1.1 200 OK\r\nA: 1\r\nno field\r\n\r\n")
        #expect(reading.lines == ["HTTP/1.1 200 OK\r\n", "A: 1\r\n"])
        #expect(reading.fault == "Header without colon")
    }

    @Test func linesThatEndWithoutCarriageReturnAreReturned() {
        let reading = read("HTTP/1.1 200 OK\nContent-Length: 0\n\n")
        #expect(reading.lines == ["HTTP/1.1 200 OK\n", "Content-Length: 0\n", "\n"])
        #expect(reading.isComplete)
    }

    @Test func interimResponsesPrecedeTheFinalOne() {
        let reading = read("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 100\r\n\r\nHTTP/1.1 204 No\r\n\r\n")
        #expect(reading.lines.count == 7)
        #expect(reading.isComplete && reading.allowsReuse)
    }

    private static let responses = [
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=1\r\nde\r\n0\r\nA: 1\r\n\r\n",
        "HTTP/1.1 103 A\r\nA: 1\r\n\r\nHTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: 1\r\n folded\r\nConnection: close\r\n\r\nuntil the end", "garbage\r\n\r\n", "HTT\u{1}",
        "HTTP2 is not it", "HTTP/1.1 200 OK\r\nA: 1\r\nno field\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
    ]

    @Test(arguments: responses, 1...7)
    func piecesOfAnySizeGiveTheSameResponse(response: String, size: Int) {
        #expect(read(response, inPiecesOf: size) == read(response))
    }

    @Test(arguments: [
        ("garbage", "it does not begin with a status line"),
        ("ICY 200 OK\r\n", "it does not begin with a status line"),
        ("\r\nHTTP/1.1 200 OK\r\n", "it does not begin with a status line"),
        ("HTTP/9.9 200 OK\r\n", "it does not begin with a status line"),
        ("HTTP/1.2 200 OK\r\n", "it does not begin with a status line"),
        ("HTTP/1.9 200 OK\r\n", "it does not begin with a status line"),
        ("HTTP/1.1 200 O\0K\r\n", "it does not begin with a status line"),
        ("HTTP/1.1\r\n", "it does not begin with a status line"),
        ("HTTP/1.1 20 OK\r\n", "it does not begin with a status line"),
        ("HTTP/1.1 2000 OK\r\n", "it does not begin with a status line"),
        ("HTTP/1.1 099 OK\r\n", "it does not begin with a status line"),
        ("HTTP/1.1 101 Switching\r\n\r\n", "it switches to a protocol that was not requested"),
        ("HTTP/1.1 200 OK\r\nno field\r\n", "Header without colon"),
        ("HTTP/1.1 200 OK\r\n: 1\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\nA: \0\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\nA: 1\r\n\r\r\n", "Header without colon"),
        ("HTTP/1.1 200 OK\r\n\rA: 1\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\n folded: 1\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\nA: 1\r\n \0\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n , chunked\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length : 5\r\n 0\r\n", "malformed header line"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length\u{B}: 5\r\n 0\r\n", "malformed header line"),
    ])
    func headThatCouldBeMisunderstoodIsInvalid(response: String, fault: String) {
        #expect(read(response).fault == fault)
    }

    @Test(arguments: [
        ("x\r\n", "malformed chunk"), ("\r\n", "malformed chunk"), ("-1\r\n", "malformed chunk"),
        ("1\na\r\n", "malformed chunk"), ("1\r\na\n", "malformed chunk"),
        ("1\r\nab\r\n", "too many bytes between two chunks"),
        ("1 a\r\n", "malformed chunk"), ("0x1\r\n", "malformed chunk"), ("1\r\r\n", "malformed chunk"),
        ("1;a\rb\r\n", "malformed chunk"),
        ("1000000000000000\r\n", "malformed chunk"), ("0\r\nno field\r\n", "Header without colon"),
        ("1;" + String(repeating: "x", count: 20_000), "too many bytes between two chunks"),
    ])
    func malformedChunkIsInvalid(chunks: String, fault: String) {
        #expect(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)").fault == fault)
    }

    /// The part before the fault can pause the transfer.
    @Test func invalidResponseRemainsInvalid() {
        var reader = HTTP1ResponseReader()
        var reading = Reading()
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nZZ\r\n"
        _ = read(Array(chunks.utf8), with: &reader, &reading)
        reading.fault = nil
        _ = read(Array("0\r\n\r\n".utf8), with: &reader, &reading)
        #expect(reading.fault == "malformed chunk" && !reading.isComplete)
        #expect(reader.endInput() == .insideBody)
    }

    @Test(arguments: [
        "Content-Length: 5, 0", "Content-Length: 0\r\nContent-Length: 5", "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, identity",
    ])
    func connectionIsNotReusedAfterContradictoryFraming(line: String) {
        #expect(!read("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n", isHead: true).allowsReuse)
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\n", true), ("HTTP/1.1 200 OK\r\nConnection: close\r\n", false),
        ("HTTP/1.1 200 OK\r\nConnection: a, CLOSE\r\n", false), ("HTTP/1.0 200 OK\r\n", false),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", true),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\n", false),
        ("HTTP/1.1 200 OK\r\nConnection: upgrade\r\n", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n", false),
    ])
    func connectionIsReusedUnlessTheServerClosesIt(head: String, isReused: Bool) {
        #expect(read("\(head)Content-Length: 1\r\n\r\na").allowsReuse == isReused)
    }

    @Test(arguments: [
        ("HTTP/1.1  200 OK", true), ("http/1.1 200", true), ("HTTP/1.1 200OK", true), ("HTTP/2 200 OK", false),
        ("HTTP/1.1 200 OK\rContent-Length: 5", false),
    ])
    func unusualStatusLineIsAccepted(line: String, isReused: Bool) {
        let reading = read("\(line)\r\nContent-Length: 1\r\n\r\na")
        #expect(reading.body == "a" && reading.isComplete)
        #expect(reading.allowsReuse == isReused)
    }

    /// Servers and proxies disagree about the end of such responses.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length : 5\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nA: b\rContent-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5, 6\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length\u{1}: 5\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\u{B}Content-Length: 5\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length\u{A0}: 5\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding\u{C}: identity\r\n",
    ])
    func connectionIsNotReusedAfterAmbiguousFraming(head: String) {
        let reading = read("\(head)\r\n1\r\na\r\n0\r\n\r\n")
        #expect(reading.body == "a" && reading.isComplete)
        #expect(!reading.allowsReuse)
    }

    @Test(arguments: [
        "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 304 Not\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func statusThatRulesOutABodyEndsWithTheHead(head: String) {
        let reading = read(head)
        #expect(reading.isComplete && reading.body.isEmpty)
    }

    @Test func responseToHeadEndsWithTheHead() {
        let reading = read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", isHead: true)
        #expect(reading.isComplete && reading.allowsReuse)
    }

    @Test(
        arguments: [
            ("", .nothing), ("HTT", .insideHead), ("HTTP/1.1 200 OK\r\nA: 1\r\n", .insideHead),
            ("HTTP/1.1 100 Go on\r\n\r\n", .insideHead), ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", .insideBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .insideBody),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", .insideBody),
            ("HTTP/1.1 200 OK\r\n\r\nabc", .complete), ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", .complete),
        ] as [(String, HTTP1ResponseReader.Ending)])
    func endOfTheConnectionIsJudgedByWhatIsMissing(input: String, ending: HTTP1ResponseReader.Ending) {
        var reader = HTTP1ResponseReader()
        var reading = Reading()
        _ = read(Array(input.utf8), with: &reader, &reading)
        #expect(reader.endInput() == ending)
        #expect(!reader.allowsReuse)
    }

    @Test func lineBeyondTheLimitIsReturnedBeforeItsEnd() {
        let reading = read("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 1 << 20))", inPiecesOf: 10_000)
        #expect(reading.lines.count >= 2)
        #expect((reading.lines.last?.utf8.count ?? 0) > ResponseHeadParser.limit)
    }

    /// Random changes of valid responses; the reader must neither trap nor stop to advance.
    @Test func changedResponsesEndOrNeedMore() {
        var generator = SystemRandomNumberGenerator()
        for response in Self.responses {
            for _ in 0..<500 {
                var bytes = Array(response.utf8)
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    let index = bytes.indices.randomElement(using: &generator) ?? 0
                    switch Int.random(in: 0..<3, using: &generator) {
                    case 0: bytes[index] = .random(in: 0...255, using: &generator)
                    case 1: bytes.insert(.random(in: 0...255, using: &generator), at: index)
                    default: bytes.removeSubrange(index..<min(bytes.count, index + 3))
                    }
                    if bytes.isEmpty { bytes = [0] }
                }
                var reader = HTTP1ResponseReader()
                var reading = Reading()
                _ = read(bytes, with: &reader, &reading)
                #expect(reading.body.utf8.count <= bytes.count * 3)
            }
        }
    }
}
