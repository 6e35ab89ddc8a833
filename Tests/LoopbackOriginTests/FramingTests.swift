import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FramingTests {
    typealias Response = LoopbackOrigin.Response

    private let body = Array("0123456789".utf8)

    /// Returns the bytes sent in response to `request`, up to the end of the connection.
    private func wire(
        _ response: Response, request: String = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
    ) async throws -> String {
        try await withLoopbackOrigin { origin in
            origin.route("/", response)
            let client = try RawClient(port: origin.port)
            client.send(request)
            return await client.readToEnd().text
        }
    }

    @Test func originSendsTheActualContentLength() async throws {
        let wire = try await wire(Response(headerFields: ["Content-Type": "image/png"], body: body))
        #expect(
            wire == "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 10\r\nConnection: close\r\n\r\n"
                + "0123456789")
    }

    @Test func chunksMatchTheWrittenPieces() async throws {
        let wire = try await wire(
            Response(body: body, framing: .chunked).paced(bytesPerSecond: 1_000_000, chunk: 4))
        #expect(
            wire == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                + "4\r\n0123\r\n4\r\n4567\r\n2\r\n89\r\n0\r\n\r\n")
    }

    @Test(arguments: [3, 50]) func claimedContentLengthIsSent(claimed: Int) async throws {
        let wire = try await wire(Response(body: body, framing: .claimedContentLength(claimed)))
        #expect(wire.contains("Content-Length: \(claimed)\r\n"))
        #expect(wire.hasSuffix("\r\n\r\n0123456789"))
    }

    @Test func connectionIsClosedAfterTooShortABody() async throws {
        let request = "GET / HTTP/1.1\r\n\r\n"
        let wire = try await wire(Response(body: body, framing: .claimedContentLength(50)), request: request)
        #expect(wire.hasSuffix("\r\n\r\n0123456789"))
    }

    @Test func endOfConnectionEndsTheBody() async throws {
        let wire = try await wire(Response(body: body, framing: .untilClose), request: "GET / HTTP/1.1\r\n\r\n")
        #expect(wire == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n0123456789")
    }

    @Test func rawResponseIsSentWithoutHead() async throws {
        let wire = try await wire(.raw("HTTP/9 what\r\n"), request: "GET / HTTP/1.1\r\n\r\n")
        #expect(wire == "HTTP/9 what\r\n")
    }

    @Test func responseToHEADHasNoBody() async throws {
        let wire = try await wire(
            Response(body: body), request: "HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n")
        #expect(wire == "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\n")
    }

    @Test(arguments: [204, 304]) func bodilessStatusesHaveNoLength(status: Int) async throws {
        let wire = try await wire(Response(status: status, headerFields: ["ETag": "\"a\""], body: body))
        #expect(wire.hasPrefix("HTTP/1.1 \(status) No"))
        #expect(wire.hasSuffix("\r\nETag: \"a\"\r\nConnection: close\r\n\r\n"))
    }

    @Test func earlyHintsComeFirst() async throws {
        var response = Response(body: body)
        response.interim = [.init(headerFields: ["Link": "</a>"])]
        let wire = try await wire(response)
        #expect(wire.hasPrefix("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n"))
    }

    @Test func redirectHasLocation() async throws {
        let wire = try await wire(.redirect(to: "../b?c", status: 307))
        #expect(wire.hasPrefix("HTTP/1.1 307 Temporary Redirect\r\nLocation: ../b?c\r\nContent-Length: 0\r\n"))
    }

    @Test func connectionOfHTTP10ClientIsClosed() async throws {
        let wire = try await wire(Response(body: body), request: "GET / HTTP/1.0\r\n\r\n")
        #expect(wire.hasSuffix("0123456789"))
    }
}
