import HTTPTransport
import LoopbackOrigin
import Testing

/// Responses whose head violates HTTP.
@Suite(.timeLimit(.minutes(2)))
struct MalformedHeadTests {
    /// libcurl before 8.1.2 appends such a line to a header line of the previous transfer, which has been freed.
    @Test func foldedFirstHeaderLineFailsOnlyItsTransfer() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/good") { _ in LoopbackOrigin.Response(headerFields: ["A": "b"], body: [1, 2]) }
            let line = " folded: \(String(repeating: "x", count: 500))"
            let folded = "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 1\r\n\r\na"
            origin.route("/folded") { _ in .raw(folded) }
            for _ in 0..<10 {
                try await withThrowingTaskGroup { group in
                    for number in 0..<16 {
                        group.addTask {
                            let path = number.isMultiple(of: 2) ? "/good" : "/folded"
                            return (path, try await transport.fetch(origin.url(path)))
                        }
                    }
                    for try await (path, record) in group {
                        if path == "/good" {
                            #expect(record.isComplete && record.body == [1, 2])
                        } else {
                            #expect(record.error?.reason == .invalidResponse)
                            #expect(
                                record.error?.description
                                    == "the response is not valid HTTP (malformed header line)")
                        }
                    }
                }
            }
            #expect(await transport.transferCount == 0)
        }
    }

    @Test(
        arguments: [
            ("garbage\r\n\r\n", "the response is not valid HTTP (it does not begin with a status line)"),
            ("HTTP/1.1 200 OK\r\nno field\r\n\r\n", "the response is not valid HTTP (Header without colon)"),
            ("", "the connection was lost before the response began"),
            (
                "HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 200_000))\r\n\r\n",
                "the response header is larger than the limit of 102400 bytes"
            ),
        ])
    func malformedHeadIsDescribedByItsDefect(response: String, message: String) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .raw(response))
            #expect(try await transport.fetch(origin.url("/a")).error?.description == message)
        }
    }

    /// libcurl would decode the gzip, although it was not requested: a megabyte can become a gigabyte.
    @Test func unrequestedTransferCodingIsRejected() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"
            let gzip: [UInt8] = [
                0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x4B, 0x4C, 0x4A, 6, 0, 0xC2, 0x41, 0x24, 0x35, 3, 0, 0, 0,
            ]
            origin.route(
                "/a",
                .raw(Array("\(head)\(String(gzip.count, radix: 16))\r\n".utf8) + gzip + Array("\r\n0\r\n\r\n".utf8)))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .invalidResponse)
            #expect(record.error?.detail == "transfer coding other than chunked")
            #expect(record.heads.isEmpty && record.body.isEmpty)
        }
    }

    @Test(arguments: ["12abc", "3, 4", "3\r\nContent-Length: 4"])
    func invalidContentLengthIsRejected(value: String) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", .raw("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\nabc"))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.error?.reason == .invalidResponse)
            #expect(record.heads.isEmpty)
        }
    }
}
