import HTTPTypes
import Testing

@testable import HTTPTransport

struct ResponseHeadParserTests {
    /// Feeds the lines of `text`, which end in LF, and returns the last event other than "needs more".
    private func parse(_ text: String) -> ResponseHeadParser.Event { parse(Array(text.utf8)) }

    private func parse(_ bytes: [UInt8]) -> ResponseHeadParser.Event {
        var parser = ResponseHeadParser()
        var line: [UInt8] = []
        for byte in bytes {
            line.append(byte)
            guard byte == 0x0A else { continue }
            let event = parser.append(line.span)
            if case .needsMore = event { line = [] } else { return event }
        }
        return .needsMore
    }

    private func response(_ text: String) throws -> HTTPResponse {
        guard case .complete(let head) = parse(text) else { throw NotComplete() }
        return head.response
    }

    private struct NotComplete: Error {}

    @Test func statusAndFieldsAreParsed() throws {
        let response = try response("HTTP/1.1 404 Not  Found\r\nA: 1\r\nb:\t 2 \t\r\nEmpty:\r\nA: 3\r\n\r\n")
        #expect(response.status.code == 404)
        #expect(response.headerFields[values: try #require(HTTPField.Name("a"))] == ["1", "3"])
        #expect(response.headerFields[try #require(HTTPField.Name("B"))] == "2")
        #expect(response.headerFields[try #require(HTTPField.Name("empty"))] == "")
    }

    @Test(
        arguments: [
            ("Content-Length: 12", 12), ("CONTENT-LENGTH:0", 0), ("content-length: \t 7 \t", 7),
            ("Content_Length: 1", nil), ("Content-Length 1", nil), ("Content-Length : 1", nil),
            ("X: 1\r\nContent-Length: 3\r\nY: 2", 3), ("Content-Length: 5, 5\r\nContent-Length:5", 5),
            ("Transfer-Encoding: chunked", nil), ("Transfer-Encoding: identity\r\nContent-Length: 3", 3),
            ("transfer-encoding: identity,\tCHUNKED", nil),
        ] as [(String, Int?)])
    func contentLengthIsKnownWithoutReadingTheFields(_ lines: String, length: Int?) throws {
        guard case .complete(let head) = parse("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n") else { throw NotComplete() }
        #expect(head.contentLength == length)
    }

    @Test(arguments: [
        "Content-Length:", "Content-Length: -1", "Content-Length: +1", "Content-Length: 1 2", "Content-Length: 12abc",
        "Content-Length: 99999999999999999999", "Content-Length: 1,", "Content-Length: 1, 2", "Content-Length: 1\r",
        "Content-Length: 1\r\nA: b\r\nContent-Length: 2", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: x-gzip", "Transfer-Encoding: chunked\r\nTransfer-Encoding: deflate",
        "TRANSFER-ENCODING:chunked;q=1", "Transfer-Encoding:", "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    ])
    func ambiguousMessageFramingIsRejected(lines: String) {
        guard case .refused(.invalidResponse, .some) = parse("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n") else {
            Issue.record("accepted")
            return
        }
    }

    /// RFC 9112, section 6.3.
    @Test(arguments: ["7", "1, 2", "x", "7\r\nContent-Length: 8"])
    func chunksOverrideAContentLength(length: String) throws {
        for lines in [
            "Content-Length: \(length)\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: chunked\r\nContent-Length: \(length)",
        ] {
            guard case .complete(let head) = parse("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n") else { throw NotComplete() }
            #expect(head.contentLength == nil)
            #expect(head.response.headerFields[.contentLength] == nil)
        }
    }

    @Test func framingOfInterimResponsesIsIgnored() throws {
        let interim = "HTTP/1.1 103 Early Hints\r\nContent-Length: x\r\n\r\n"
        #expect(try response(interim + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n").status == .ok)
    }

    @Test func headLinesMayEndInLineFeedOnly() throws {
        #expect(try response("HTTP/2 200\nA: 1\n\n").headerFields.count == 1)
    }

    @Test func responseHeadParserSkipsInterimResponses() throws {
        let text =
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: 1\r\n\r\n"
        let response = try response(text)
        #expect(response.status == .ok)
        #expect(response.headerFields.count == 1)
    }

    @Test func linesThatAreNotHeaderFieldsAreSkipped() throws {
        #expect(
            try response("HTTP/1.1 200 OK\r\nnonsense\r\n folded\r\nbad name: 1\r\n: 2\r\n\r\n").headerFields.isEmpty)
    }

    @Test(arguments: ["HTTP/1.1\r\n\r\n", "HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2000\r\n\r\n", "\r\n"])
    func statusLinesWithoutStatusAreRejected(text: String) {
        guard case .refused(.invalidResponse, _) = parse(text) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func headerFieldsKeepBytesThatAreNotUTF8() {
        guard
            case .complete(let head) = parse(
                Array("HTTP/1.1 200 OK\r\nServer: caf".utf8) + [0xE9, 0x0D, 0x0A, 0x0D, 0x0A])
        else {
            Issue.record("not complete")
            return
        }
        let bytes = head.response.headerFields[fields: .server].first?.withUnsafeBytesOfValue { Array($0) }
        #expect(bytes == Array("caf".utf8) + [0xE9])
    }

    @Test func sizeOfResponseHeadIsLimited() {
        let field = "A: " + String(repeating: "x", count: 1_000) + "\r\n"
        expectTooLarge(parse("HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 110)))
    }

    @Test func numberOfInterimResponsesIsLimited() {
        let field = "A: " + String(repeating: "x", count: 1_000) + "\r\n"
        expectTooLarge(parse(String(repeating: "HTTP/1.1 103 Early Hints\r\n\(field)\r\n", count: 110)))
    }

    @Test func numberOfHeaderLinesIsLimited() throws {
        let lines = "HTTP/1.1 200 OK\n" + String(repeating: "a:\n", count: ResponseHeadParser.maximumLines - 2)
        #expect(try response(lines + "\n").headerFields.count == ResponseHeadParser.maximumLines - 2)
        expectTooLarge(parse(lines + "a:\n\n"))
    }

    @Test func numberOfInterimHeaderLinesIsLimited() {
        expectTooLarge(parse(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1_001)))
    }

    @Test(arguments: [(20_000, 5), (1, 2_000)])
    func trailersCountTowardTheHeadLimit(length: Int, count: Int) {
        var parser = ResponseHeadParser()
        for line in ["HTTP/1.1 200 OK\r\n", "\r\n"] { _ = parser.append(Array(line.utf8).span) }
        let trailer = Array("A: \(String(repeating: "x", count: length))\r\n".utf8)
        for number in 0... {
            let event = parser.append(trailer.span)
            if case .needsMore = event, number < count { continue }
            expectTooLarge(event)
            return
        }
    }

    @Test func answeredChallengeCountsTowardTheHeadLimit() {
        var parser = ResponseHeadParser()
        let lines = ["HTTP/1.1 401 \r\n", "A: \(String(repeating: "x", count: 60_000))\r\n", "\r\n"]
        for line in lines { _ = parser.append(Array(line.utf8).span) }
        parser.expectAnotherResponse()
        #expect(!parser.isInFinalHead)
        _ = parser.append(Array(lines[0].utf8).span)
        #expect(parser.isInFinalHead)
        expectTooLarge(parser.append(Array(lines[1].utf8).span))
    }

    private func expectTooLarge(_ event: ResponseHeadParser.Event, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .refused(.headerTooLarge(limit: ResponseHeadParser.limit), _) = event else {
            Issue.record("accepted", sourceLocation: sourceLocation)
            return
        }
    }
}
