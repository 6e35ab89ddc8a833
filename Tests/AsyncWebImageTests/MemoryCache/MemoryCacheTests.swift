import Testing
import Threading

@testable import AsyncWebImage

struct MemoryCacheTests {
    /// A response of 400 bytes of pixels.
    private func response(
        _ width: Int = 10, headerFields: HTTPFields = [:], iccProfile: [UInt8]? = nil
    ) throws -> ImageResponse {
        let header = ImageHeader(format: .png, size: PixelSize(width: width, height: 10))
        let image = DecodedImage(
            pixels: Samples.picture(width, 10), header: header, originalSize: header.size, iccProfile: iccProfile)
        let head = ResponseHead(
            response: HTTPResponse(status: .ok, headerFields: headerFields), url: try HTTPURL("http://host/"))
        return ImageResponse(
            image: image, origin: ResponseOrigin(head: head, source: .network, byteCount: 1, metrics: nil))
    }

    private func key(_ name: Int) throws -> ImageCacheKey {
        let url = try HTTPURL("http://host/\(name)")
        return ImageCacheKey(fetch: FetchKey(url: url, headerFields: [:]), recipe: PixelRecipe())
    }

    @Test func leastRecentlyUsedImageIsRemovedFirst() throws {
        let cache = MemoryCache(maximumBytes: 1_200)
        for name in 1...3 { cache.insert(try response(), for: try key(name)) }
        _ = cache.response(for: try key(1))
        cache.insert(try response(), for: try key(4))

        #expect(cache.response(for: try key(2)) == nil)
        #expect([1, 3, 4].allSatisfy { name in (try? cache.response(for: key(name))) != nil })
        #expect(cache.byteCount == 1_200 && cache.count == 3)
    }

    @Test func oversizedImageIsNotCachedAndEvictsNothing() throws {
        let cache = MemoryCache(maximumBytes: 500)
        cache.insert(try response(), for: try key(1))
        cache.insert(try response(20), for: try key(2))
        #expect(cache.count == 1)
        #expect(cache.response(for: try key(1)) != nil)
    }

    @Test func replacedImageIsCountedOnce() throws {
        let cache = MemoryCache(maximumBytes: 2_000)
        for _ in 0..<5 { cache.insert(try response(), for: try key(1)) }
        #expect(cache.byteCount == 400 && cache.count == 1)
        cache.removeAll()
        #expect(cache.byteCount == 0)
        #expect(cache.response(for: try key(1)) == nil)
    }

    @Test func costIncludesTheHeaderFields() throws {
        let cache = MemoryCache(maximumBytes: 2_000)
        cache.insert(try response(headerFields: [.eTag: "\"1\""]), for: try key(1))
        #expect(cache.byteCount == 400 + 4 + 3)
    }

    @Test func costIncludesTheColorProfile() throws {
        let cache = MemoryCache(maximumBytes: 2_000)
        let profile = [UInt8](repeating: 0, count: 1_000)
        for name in 1...2 { cache.insert(try response(iccProfile: profile), for: try key(name)) }
        #expect(cache.byteCount == 400 + 1_000 && cache.count == 1)
    }

    @Test func expiredImageIsNotReturnedAndIsRemoved() throws {
        let clock = ManualClock()
        let evictions = Locked(0)
        let cache = MemoryCache(maximumBytes: 2_000, maximumAge: .seconds(60), clock: Stopwatch(clock)) { count in
            evictions.withLock { $0 += count }
        }
        cache.insert(try response(), for: try key(1))
        clock.advance(by: .seconds(59))
        #expect(cache.response(for: try key(1)) != nil)
        // The age counts from the insertion, not from the last use.
        clock.advance(by: .seconds(1))
        #expect(cache.response(for: try key(1)) == nil)
        #expect(cache.count == 0 && cache.byteCount == 0)
        #expect(evictions.withLock { $0 } == 1)
    }

    @Test func trimmingRemovesTheLeastRecentlyUsedImages() throws {
        let cache = MemoryCache(maximumBytes: 2_000)
        for name in 1...4 { cache.insert(try response(), for: try key(name)) }
        _ = cache.response(for: try key(1))
        cache.trim(to: 900)
        #expect(cache.count == 2 && cache.byteCount == 800)
        #expect(try cache.response(for: key(1)) != nil)
        #expect(try cache.response(for: key(4)) != nil)
    }

    @Test func memoryPressureTrimsTheMemoryCacheToHalf() throws {
        let cache = MemoryCache(maximumBytes: 2_000)
        for name in 1...4 { cache.insert(try response(), for: try key(name)) }
        ImageLoader.releaseMemory(of: cache, BufferPool(.none), BufferPool(.none))
        #expect(cache.count == 2 && cache.byteCount == 800)
        #expect(try cache.response(for: key(4)) != nil)
    }

    @Test func imagesAreRemovedByKeyAndByPredicate() throws {
        let cache = MemoryCache(maximumBytes: 2_000)
        for name in 1...4 { cache.insert(try response(), for: try key(name)) }
        cache.remove(try key(1))
        #expect(cache.count == 3)
        cache.removeAll { $0.url.string.hasSuffix("/2") || $0.url.string.hasSuffix("/3") }
        #expect(cache.count == 1)
        #expect(cache.response(for: try key(4)) != nil)
        cache.removeAll()
        #expect(cache.count == 0 && cache.byteCount == 0)
    }

    @Test func predicateCanUseTheCache() throws {
        let cache = MemoryCache(maximumBytes: 2_000)
        cache.insert(try response(), for: try key(1))
        cache.removeAll { cache.response(for: $0) != nil }
        #expect(cache.count == 0)
    }
}
