import HTTPTransport
import Hashing
import LoopbackOrigin
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Responses with a content coding that was not requested.
extension CachedLoadingTests {
    @Test func encodedBodyIsStoredDecoded() async throws {
        try await withCache { (origin, cache) async throws in
            let part = Array(body[..<60_000])
            origin.route(
                "/a",
                .init(
                    headerFields: ["Cache-Control": "max-age=60", "Content-Encoding": "gzip", "ETag": "\"1\""],
                    body: gzip(part)))
            let loader = loader(cache)
            let first = try await load(loader, ImageRequest(origin.url("/a")))
            let second = try await load(self.loader(cache), ImageRequest(origin.url("/a")))
            #expect(first.bytes == part && second.bytes == part)
            #expect(first.source == .network && second.source == .disk)
        }
    }

    /// The remainder of the encoded bytes would not continue the decoded ones.
    @Test func encodedBodyIsNotContinued() async throws {
        try await withCache { (origin, cache) async throws in
            let part = Array(body[..<60_000])
            let response = LoopbackOrigin.Response(
                headerFields: ["Content-Encoding": "gzip", "ETag": "\"1\""], body: gzip(part))
            origin.route("/a", [response.cut(at: .body(40_000)), response])
            await #expect(throws: ImageError.self) { try await load(loader(cache), ImageRequest(origin.url("/a"))) }
            #expect(try await load(loader(cache), ImageRequest(origin.url("/a"))).bytes == part)
            #expect(origin.recordedRequests(to: "/a").allSatisfy { $0.headerFields["Range"] == nil })
        }
    }

    /// Returns fewer than 64 KiB as gzip data that are not compressed.
    private func gzip(_ bytes: [UInt8]) -> [UInt8] {
        func number(_ value: UInt32, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        }
        let count = UInt32(bytes.count)
        var checksum = CRC32()
        checksum.update(bytes.span)
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1] + number(count, 2) + number(~count, 2) + bytes
            + number(checksum.value, 4) + number(count, 4)
    }
}
