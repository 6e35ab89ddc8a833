import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@testable import HTTPTransport

/// Bodies with a content coding, although none is requested.
@Suite(.timeLimit(.minutes(1)))
struct ContentDecoderTests {
    /// Bytes that cannot be compressed.
    private static let body: [UInt8] = {
        var random = SplitMix(seed: 1)
        return (0..<100_001).map { _ in UInt8.random(in: 0...255, using: &random) }
    }()

    /// Returns the record of a body that is offered in pieces, and again from its beginning after each pause.
    private func record(
        _ bytes: [UInt8], _ encoding: String, inPiecesOf size: Int = .max, limit: Int = 1 << 30,
        outcome: TransferOutcome = .complete(TransferMetrics()), script: @escaping Recorder.Script = { _, _ in .more }
    ) throws -> Recorder.Record {
        let recorder = Recorder(script: script)
        let url = try HTTPURL("http://example.org/a")
        let response = HTTPResponse(
            status: .ok, headerFields: [.contentEncoding: encoding, .contentLength: "\(bytes.count)", .eTag: "\"a\""])
        let decoder = try #require(
            ContentDecoder.decoder(of: ContentCoding.codings(of: response), url: url, limit: limit, before: recorder))
        decoder.receive(ResponseHead(response: response, url: url))
        var start = 0
        while start < bytes.count {
            let piece = Array(bytes[start..<min(bytes.count, start + min(size, bytes.count))])
            switch decoder.receive(piece.span) {
            case .more: start += piece.count
            case .pause: continue
            case .stop:
                decoder.finish(.stopped(TransferMetrics()))
                return recorder.record
            }
        }
        decoder.finish(outcome)
        return recorder.record
    }

    @Test(
        arguments: [
            ("gzip", compressed(body)), ("X-GZip", compressed(body)), ("identity, gzip", compressed(body)),
            ("deflate", compressed(body, windowBits: 15)), ("deflate", compressed(body, windowBits: -15)),
            ("gzip, gzip", compressed(compressed(body))),
            ("deflate, gzip", compressed(compressed(body, windowBits: 15))),
            ("gzip", compressed(Array(body[..<50_000])) + compressed(Array(body[50_000...]))),
            ("gzip", compressed(body) + [0, 0, 0]),
        ], [1_000, .max])
    func encodedBodyIsDecoded(encoded: (coding: String, bytes: [UInt8]), size: Int) throws {
        let record = try record(encoded.bytes, encoded.coding, inPiecesOf: size)
        #expect(record.body == Self.body)
        #expect(record.isComplete && record.heads.count == 1)
        #expect(record.head?.contentLength == nil)
        #expect(record.head?.response.headerFields[.contentLength] == nil)
        #expect(record.head?.response.headerFields[.contentEncoding] == encoded.coding)
    }

    @Test(arguments: [1, 2, 63, 64, 65])
    func smallEncodedBodyIsDecodedInPiecesOfAnySize(size: Int) throws {
        for body in [[], [1], pattern(43), pattern(200)] as [[UInt8]] {
            for bits: Int32 in [31, 15, -15] {
                let record = try record(
                    compressed(body, windowBits: bits), bits == 31 ? "gzip" : "deflate", inPiecesOf: size)
                #expect(record.body == body && record.isComplete)
            }
        }
    }

    @Test(arguments: ["gzip", "deflate", "gzip, gzip"], [0, 1, 63, 64, 65, 100_001])
    func bodyWithoutTheCodingThatItClaimsIsUnchanged(coding: String, count: Int) throws {
        for begin in [[0xFF, 0xD8, 0xFF], [0x89, 0x50], Array("RIFF\u{1}\u{2}\u{3}\u{0}WEBPVP8 ".utf8)] as [[UInt8]] {
            let body = Array((begin + Self.body).prefix(count))
            let record = try record(body, coding, inPiecesOf: 1_000)
            #expect(record.body == body && record.isComplete)
            #expect(record.head?.contentLength == count)
        }
    }

    @Test func pausesStopDecodingAtAnyByte() throws {
        // Highly compressible, so that one piece has many times the content of the buffer.
        let body = [UInt8](repeating: 7, count: 1_000_000) + pattern(1_000)
        let record = try record(compressed(body), "gzip", inPiecesOf: 700) { _, pauses in
            pauses.isMultiple(of: 3) ? .more : .pause
        }
        #expect(record.body == body && record.isComplete)
    }

    @Test func decodedBytesCountTowardTheLimit() throws {
        let encoded = compressed([UInt8](repeating: 0, count: 50_000_000))
        let tooLarge = try record(encoded, "gzip", limit: 1_000_000)
        #expect(tooLarge.error?.reason == .bodyTooLarge(limit: 1_000_000))
        #expect(tooLarge.body.count <= 1_000_000)
        #expect(try record(compressed(Self.body), "gzip", limit: Self.body.count).isComplete)
        #expect(
            try record(compressed(Self.body), "gzip", limit: Self.body.count - 1).error?.reason
                == .bodyTooLarge(limit: Self.body.count - 1))
    }

    @Test func encodedBodyThatEndsEarlyIsTruncated() throws {
        let encoded = compressed(Self.body)
        let record = try record(Array(encoded.dropLast(20)), "gzip")
        guard case .truncated(expected: nil, let received)? = record.error?.reason else {
            Issue.record("not truncated")
            return
        }
        #expect(received == record.body.count)
        #expect(record.body == Array(Self.body.prefix(received)))
    }

    @Test func truncationOfAnEncodedBodyCountsDecodedBytes() throws {
        let encoded = Array(compressed(Self.body).prefix(10_000))
        let lost = TransportError(url: "http://example.org/a", reason: .truncated(expected: 99_999, received: 10_000))
        let record = try record(encoded, "gzip", outcome: .failed(lost))
        #expect(record.error?.reason == .truncated(expected: nil, received: record.body.count))
    }

    @Test func damagedCodingIsAnError() throws {
        var encoded = compressed(Self.body)
        for index in 5_000..<5_100 { encoded[index] ^= 0xFF }
        let error = try record(encoded, "gzip").error
        #expect(error?.reason == .invalidResponse)
        #expect(error?.detail == "the content coding gzip of the body is damaged")
    }

    @Test(arguments: ["br", "identity", "aws-chunked", "gzip, gzip, gzip", ""])
    func otherCodingsAreNotDecoded(value: String) throws {
        #expect(ContentCoding.codings(of: HTTPResponse(status: .ok, headerFields: [.contentEncoding: value])).isEmpty)
    }

    @Test func transportDecodesBodies() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let encoded = compressed(Self.body)
            for framing in [LoopbackOrigin.Response.Framing.contentLength, .chunked, .untilClose] {
                origin.route(
                    "/a",
                    LoopbackOrigin.Response(headerFields: ["Content-Encoding": "gzip"], body: encoded, framing: framing)
                )
                let record = try await transport.fetch(origin.url("/a"))
                #expect(record.body == Self.body && record.isComplete && record.directBytes == 0)
                #expect(record.metrics?.bodyBytes == encoded.count)
            }
            let tooLarge = try await transport.fetch(origin.url("/a")) { $0.maximumBodyBytes = Self.body.count - 1 }
            #expect(tooLarge.error?.reason == .bodyTooLarge(limit: Self.body.count - 1))
        }
    }

    /// Servers that compress files as they send them make this mistake, and browsers tolerate it.
    @Test(arguments: [0, 1, -1])
    func declaredLengthMayBeThatOfTheDecodedBody(difference: Int) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let body = pattern(100_000)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count + difference)\r\n\r\n"
            origin.route("/a", .raw(Array(head.utf8) + compressed(body)))
            let record = try await transport.fetch(origin.url("/a"))
            #expect(record.body == body && record.isComplete == (difference == 0))
            #expect(record.head?.contentLength == nil)
        }
    }

    @Test func partOfAnEncodedBodyIsNotDecoded() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let encoded = compressed(Self.body)
            origin.route(
                "/a",
                LoopbackOrigin.Response(
                    status: 206,
                    headerFields: ["Content-Encoding": "gzip", "Content-Range": "bytes 0-99/\(encoded.count)"],
                    body: Array(encoded.prefix(100))))
            let record = try await transport.fetch(origin.url("/a")) { $0.headerFields[.range] = "bytes=0-99" }
            #expect(record.body == Array(encoded.prefix(100)))
        }
    }
}
