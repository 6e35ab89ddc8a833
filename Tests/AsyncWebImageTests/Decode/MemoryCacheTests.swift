import Testing

@testable import AsyncWebImage

struct MemoryCacheTests {
    /// A response of 400 bytes of pixels.
    private func response(_ width: Int = 10, headerFields: HTTPFields = [:]) throws -> ImageResponse {
        let header = ImageHeader(format: .png, size: PixelSize(width: width, height: 10))
        let image = DecodedImage(pixels: Samples.picture(width, 10), header: header, originalSize: header.size)
        let head = ResponseHead(
            response: HTTPResponse(status: .ok, headerFields: headerFields), url: try HTTPURL("http://host/"))
        return ImageResponse(
            image: image, origin: ResponseOrigin(head: head, source: .network, byteCount: 1, metrics: nil))
    }

    private func key(_ name: Int) throws -> VariantKey {
        let url = try HTTPURL("http://host/\(name)")
        return VariantKey(fetch: FetchKey(url: url, headerFields: [:]), options: DecodeOptions())
    }

    @Test func leastRecentlyUsedImageIsRemovedFirst() throws {
        let cache = MemoryCache(limit: 1_200)
        for name in 1...3 { cache.insert(try response(), for: try key(name)) }
        _ = cache.response(for: try key(1))
        cache.insert(try response(), for: try key(4))

        #expect(cache.response(for: try key(2)) == nil)
        #expect([1, 3, 4].allSatisfy { name in (try? cache.response(for: key(name))) != nil })
        #expect(cache.cost == 1_200 && cache.count == 3)
    }

    @Test func oversizedImageIsNotCachedAndEvictsNothing() throws {
        let cache = MemoryCache(limit: 500)
        cache.insert(try response(), for: try key(1))
        cache.insert(try response(20), for: try key(2))
        #expect(cache.count == 1)
        #expect(cache.response(for: try key(1)) != nil)
    }

    @Test func replacedImageIsCountedOnce() throws {
        let cache = MemoryCache(limit: 2_000)
        for _ in 0..<5 { cache.insert(try response(), for: try key(1)) }
        #expect(cache.cost == 400 && cache.count == 1)
        cache.removeAll()
        #expect(cache.cost == 0)
        #expect(cache.response(for: try key(1)) == nil)
    }

    @Test func costIncludesTheHeaderFields() throws {
        let cache = MemoryCache(limit: 2_000)
        cache.insert(try response(headerFields: [.eTag: "\"1\""]), for: try key(1))
        #expect(cache.cost == 400 + 4 + 3)
    }
}
