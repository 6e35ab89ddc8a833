import AsyncWebImage
import HTTPTransport
import LoopbackOrigin
import Testing

/// A response of a hostile or broken server to a request for an image, and the required end of the load.
struct HostileAnswer: Sendable, CustomTestStringConvertible {
    typealias Response = LoopbackOrigin.Response

    enum End: Sendable, Equatable {
        /// The image is loaded.
        case image
        case failure(TransportError.Reason)
        /// The connection ended before the body was complete.
        case truncated
        case status(Int)
        /// The body is not an image, or not a complete one.
        case codec
        case emptyBody
    }

    let testDescription: String
    let response: Response
    let end: End

    init(_ name: String, _ response: Response, _ end: End) {
        testDescription = name
        self.response = response
        self.end = end
    }

    /// Creates a response of these head lines and `body`, after which the connection is closed.
    init(_ name: String, head: String, _ body: [UInt8] = [], _ end: End) {
        self.init(name, .raw(Array((head + "\r\n\r\n").utf8) + body), end)
    }

    /// The maximum number of bytes of a body that a loader of these answers should take.
    static let maximumBodyBytes = 1 << 20

    /// Returns all responses to a request for the image `file`.
    static func all(_ file: [UInt8]) -> [HostileAnswer] {
        lengths(file) + chunks(file) + trailers(file) + heads(file) + fields(file) + statusLines(file)
            + statuses(file) + interim(file) + bodies(file) + redirects
    }
}

extension HostileAnswer {
    static let headerTooLarge = End.failure(.headerTooLarge(limit: 100 << 10))
    static let bodyTooLarge = End.failure(.bodyTooLarge(limit: maximumBodyBytes))
    static let invalid = End.failure(.invalidResponse)

    private static func lengths(_ file: [UInt8]) -> [HostileAnswer] {
        let ok = "HTTP/1.1 200 OK\r\n"
        return [
            HostileAnswer(
                "length too short", Response(body: file, framing: .claimedContentLength(file.count / 2)), .codec),
            HostileAnswer(
                "length too long", Response(body: file, framing: .claimedContentLength(file.count + 50)), .truncated),
            HostileAnswer("negative length", head: "\(ok)Content-Length: -5", file, invalid),
            HostileAnswer("length with letters", head: "\(ok)Content-Length: 12abc", file, invalid),
            HostileAnswer(
                "length over the limit", Response(body: file, framing: .claimedContentLength(600 << 20)), bodyTooLarge),
            HostileAnswer(
                "length over 64 bits", head: "\(ok)Content-Length: 1\(String(repeating: "0", count: 26))", file, invalid
            ),
            HostileAnswer(
                "length twice", head: "\(ok)Content-Length: \(file.count)\r\nContent-Length: \(file.count)", file,
                .image),
            HostileAnswer(
                "two lengths", head: "\(ok)Content-Length: \(file.count + 9)\r\nContent-Length: \(file.count)", file,
                invalid),
            HostileAnswer("folded length", head: "\(ok)A: b\r\n Content-Length: 3", file, .image),
        ]
    }

    private static func chunks(_ file: [UInt8]) -> [HostileAnswer] {
        func chunked(_ name: String, _ format: Response.ChunkFormat, _ end: End) -> HostileAnswer {
            var response = Response(body: file, framing: .chunked)
            response.chunkFormat = format
            return HostileAnswer(name, response, end)
        }
        return [
            chunked("chunks of one byte", .init(maximumSize: 1), .image),
            chunked(
                "chunk extension of 10 kB", .init(chunkExtension: ";" + String(repeating: "a", count: 10_000)), .image),
            chunked(
                "chunk extension of 100 kB", .init(chunkExtension: ";" + String(repeating: "a", count: 100_000)),
                invalid
            ),
            chunked("chunk sizes that are no numbers", .init(sizeText: "xyz"), invalid),
            chunked("negative chunk sizes", .init(sizeText: "-5"), invalid),
            chunked("chunk sizes of 64 bits", .init(sizeText: "FFFFFFFFFFFFFFFF"), invalid),
            chunked("chunk sizes over 64 bits", .init(sizeText: "FFFFFFFFFFFFFFFFFF"), invalid),
            chunked("chunks larger than they say", .init(sizeError: -5), invalid),
            chunked("chunks smaller than they say", .init(sizeError: 5, hasLastChunk: false), .truncated),
            chunked("chunks without an end of line", .init(dataEnd: ""), invalid),
            chunked("no last chunk", .init(hasLastChunk: false), .truncated),
            HostileAnswer(
                "endless chunk extension",
                .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;").followed(by: "a", .endlessly),
                .failure(.invalidResponse)),
        ]
    }

    private static func trailers(_ file: [UInt8]) -> [HostileAnswer] {
        let chunked = Response(body: file, framing: .chunked)
        return [
            HostileAnswer("trailers", chunked.trailed(by: "X-Trailer: a\r\n", .times(10)), .image),
            HostileAnswer("endless trailers", chunked.trailed(by: "X: a\r\n", .endlessly), headerTooLarge),
            HostileAnswer(
                "endless trailers of 3 kB",
                chunked.trailed(by: "X: \(String(repeating: "a", count: 3_000))\r\n", .endlessly), headerTooLarge),
            HostileAnswer(
                "trailer of 100 kB", chunked.trailed(by: "X: \(String(repeating: "a", count: 100_000))\r\n"), .image),
            HostileAnswer("trailer without a colon", chunked.trailed(by: "none\r\n"), invalid),
        ]
    }

    private static func heads(_ file: [UInt8]) -> [HostileAnswer] {
        let head = Response.raw("HTTP/1.1 200 OK\r\n")
        return [
            HostileAnswer("endless head", head.followed(by: "X: a\r\n", .endlessly), headerTooLarge),
            HostileAnswer(
                "dripping head", head.followed(by: "X: a\r\n", .endlessly, every: .milliseconds(50)),
                .failure(.timedOut(.idle))),
            HostileAnswer("endless line", head.followed(by: "X: ").followed(by: "a", .endlessly), headerTooLarge),
            HostileAnswer(
                "100,000 fields", head.followed(by: "X: abcd\r\n", .times(100_000)).followed(by: "\r\n"), headerTooLarge
            ),
            HostileAnswer(
                "cookies of 4 kB",
                head.followed(by: "Set-Cookie: a=\(String(repeating: "b", count: 4_000))\r\n", .times(5_000)).followed(
                    by: "\r\n"),
                headerTooLarge),
            HostileAnswer(
                "field of 99 kB",
                Response(headerFields: ["X": String(repeating: "a", count: 99_000)], body: file), .image),
            HostileAnswer(
                "1,900 short fields",
                Response(
                    headerFields: HeaderFields(Array(repeating: .init(name: "X", value: "a"), count: 1_900)),
                    body: file),
                .image),
        ]
    }

    private static func fields(_ file: [UInt8]) -> [HostileAnswer] {
        let ok = "HTTP/1.1 200 OK\r\n"
        return [
            HostileAnswer("folded first field line", head: "\(ok) folded: x\r\nA: b", file, invalid),
            HostileAnswer("folded first field line alone", head: "\(ok) folded", file, invalid),
            HostileAnswer("NUL in a name", head: "\(ok)X\u{0}Y: a", file, invalid),
            HostileAnswer("NUL in a value", head: "\(ok)X: a\u{0}b", file, invalid),
            HostileAnswer("CR in a value", head: "\(ok)X: a\rb", file, .image),
            HostileAnswer("folded value", head: "\(ok)X: a\r\n b", file, .image),
            HostileAnswer("blank before a colon", head: "\(ok)X : a", file, .image),
            HostileAnswer("no colon", head: "\(ok)none", file, invalid),
            HostileAnswer("line feeds alone", .raw(Array("HTTP/1.1 200 OK\nX: a\n\n".utf8) + file), .image),
            HostileAnswer(
                "bytes that are no UTF-8", .raw(Array("\(ok)X: ".utf8) + [0xFF, 0xFE, 13, 10, 13, 10] + file), .image),
        ]
    }

    private static func statusLines(_ file: [UInt8]) -> [HostileAnswer] {
        [
            "HTTP/1.1 99 OK", "HTTP/1.1 abc", "HTTP/1.1 000", "HTTP/1.1 -20", "HTTP/1.1 1000", "HTTP/9.9 200 OK",
            "ICY 200 OK",
            "HTTP/1.1200 OK", "SSH-2.0-OpenSSH_9.2", "\u{0}\u{1}\u{2}",
        ].map { HostileAnswer("status line \($0.debugDescription)", head: $0, file, invalid) }
            + ["HTTP/2 200", "http/1.1 200", "HTTP/1.1  200", "HTTP/1.1 200", "HTTP/1.1 200OK"].map {
                HostileAnswer("status line \($0.debugDescription)", head: $0, file, .image)
            }
    }

    private static func statuses(_ file: [UInt8]) -> [HostileAnswer] {
        [600, 999].map { HostileAnswer("status \($0)", Response(status: $0, body: file), .status($0)) } + [
            HostileAnswer("205 with a body", Response(status: 205, body: file), .image),
            HostileAnswer("204 with a body", head: "HTTP/1.1 204 No", file, .emptyBody),
            HostileAnswer("unrequested 304", head: "HTTP/1.1 304 No", file, .status(304)),
            HostileAnswer(
                "unrequested 101", head: "HTTP/1.1 101 Switching\r\nUpgrade: websocket", file, invalid),
            HostileAnswer(
                "endless body of an error", Response(status: 500).followed(by: "error ", .endlessly), .status(500)),
        ]
    }

    private static func interim(_ file: [UInt8]) -> [HostileAnswer] {
        [
            HostileAnswer(
                "three interim answers", Response(body: file).preceded(by: .init(status: 100), .times(3)), .image),
            HostileAnswer(
                "dripping interim answers",
                Response().preceded(by: .init(status: 102), .endlessly, every: .milliseconds(50)),
                .failure(.timedOut(.firstByte))),
            HostileAnswer(
                "endless interim answers", Response().preceded(by: .init(status: 102), .endlessly), headerTooLarge),
            HostileAnswer(
                "endless early hints", Response().preceded(by: .init(headerFields: ["Link": "</a>"]), .endlessly),
                headerTooLarge),
        ]
    }

    private static func bodies(_ file: [UInt8]) -> [HostileAnswer] {
        [
            HostileAnswer("endless zeros", Response(framing: .untilClose).followed(by: [0], .endlessly), .codec),
            HostileAnswer("endless text", Response(framing: .chunked).followed(by: "<p>no image", .endlessly), .codec),
            HostileAnswer(
                "endless bytes behind an image's beginning",
                Response(body: Array(file.prefix(33)), framing: .chunked).followed(by: [0], .endlessly), .codec),
            HostileAnswer(
                "content encoding that is not undone",
                Response(headerFields: ["Content-Encoding": "gzip"], body: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]), .codec
            ),
            HostileAnswer(
                "content encoding of a plain body", Response(headerFields: ["Content-Encoding": "br"], body: file),
                .image),
            HostileAnswer(
                "500 transfer encodings",
                Response(
                    headerFields: ["Transfer-Encoding": String(repeating: "gzip, ", count: 500) + "chunked"],
                    framing: .untilClose), invalid),
            HostileAnswer(
                "gzip as a transfer coding",
                Response(headerFields: ["Transfer-Encoding": "gzip, chunked"], framing: .untilClose)
                    .followed(by: [0x1F, 0x8B, 8, 0], .endlessly), invalid),
            HostileAnswer("empty body", Response(), .emptyBody),
        ]
    }

    private static let redirects: [HostileAnswer] =
        [
            "file:///etc/passwd", "FILE:/a", "ftp://127.0.0.1/a", "data:image/png;base64,AA", "javascript:1",
            "gopher://127.0.0.1/", "http://127.0.0.1:0/", "http://127.0.0.1:99999/", "ws://127.0.0.1/",
        ].map {
            HostileAnswer("redirect to \($0)", .redirect(to: $0), .failure(.unsupportedRedirect))
        } + [
            HostileAnswer("redirect with NUL", .redirect(to: "/a\u{0}b"), invalid),
            HostileAnswer("redirect to itself", .redirect(to: "?a"), .failure(.tooManyRedirects(limit: 10))),
            HostileAnswer(
                "redirect to a growing URL", .redirect(to: "?" + String(repeating: "a", count: 9_000)),
                .failure(.tooManyRedirects(limit: 10))),
            HostileAnswer("redirect to nowhere", Response(status: 302), .status(302)),
            HostileAnswer("300", Response(status: 300, headerFields: ["Location": "/good"]), .status(300)),
            HostileAnswer(
                "redirect with an endless body",
                Response(status: 302, headerFields: ["Location": "/good"]).followed(by: [0], .endlessly), .image),
        ]
}
