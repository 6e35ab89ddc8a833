import Foundation
import LoopbackOrigin
import MetricsTestKit
import Testing
import Threading

@testable import AsyncWebImage

/// Access to a loader's cache of decoded images.
@Suite(.timeLimit(.minutes(1)))
struct CachedImageTests {
    @Test func cachedImageIsAvailableWithoutALoad() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            let loader = ImageLoader(configuration: .patient)
            var request = ImageRequest(origin.url("/a"))
            #expect(loader.cachedImage(for: request) == nil)
            let loaded = try await loader.image(for: request)
            // The policy decides about loads only.
            request.cachePolicy = .reload
            #expect(loader.cachedImage(for: request)?.pixels == loaded.pixels)
            #expect(loader.cachedImage(for: ImageRequest(origin.url("/a"), maximumSide: 10)) == nil)
            loader.imageCache.remove(try #require(loader.cacheKey(for: request)))
            #expect(loader.cachedImage(for: request) == nil)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func imageIsInTheCacheBeforeItsCallerReceivesIt() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            let cache = RecordingCache(isSlow: true)
            var configuration = ImageLoader.Configuration.patient
            configuration.imageCache = cache
            let loader = ImageLoader(configuration: configuration)
            _ = try await loader.image(for: ImageRequest(origin.url("/a")))
            #expect(cache.count == 1)
        }
    }

    @Test func imageThatIsPutIntoTheCacheIsLoadedFromThere() async throws {
        let loader = ImageLoader(transport: InstantTransport(body: []))
        let request = ImageRequest("http://example.com/icon@2x.png")
        let pixels = Samples.picture(8, 8)
        let header = ImageHeader(format: .png, size: pixels.size)
        loader.cacheImage(DecodedImage(pixels: pixels, header: header, originalSize: pixels.size), for: request)
        let response = try await loader.image(for: request)
        #expect(response.pixels == pixels)
        #expect(response.source == .imageCache)
        #expect(response.scale == 2)
    }

    @Test func requestsWithoutAKeyAreNeverCached() {
        let loader = ImageLoader()
        #expect(loader.cacheKey(for: ImageRequest("not a URL")) == nil)
        #expect(loader.cacheKey(for: ImageRequest("http://a/", headerFields: [.ifNoneMatch: "\"1\""])) == nil)
        #expect(loader.cacheKey(for: ImageRequest("http://a/", headerFields: [.cacheControl: "no-store"])) == nil)
    }

    @Test func imagesOfResponsesWithNoStoreAreNotKeptInMemory() async throws {
        try await withLoopbackOrigin { origin in
            origin.route(
                "/a", .init(headerFields: ["Cache-Control": "private, no-store"], body: try Samples.file(.png)))
            let loader = ImageLoader(configuration: .patient)
            for _ in 0..<2 {
                let image = try await loader.image(for: ImageRequest(origin.url("/a")))
                #expect(image.source == .network)
                await loader.coordinator.becomesIdle()
            }
            #expect(loader.imageCache.count == 0)
        }
    }

    @Test func loaderUsesTheCacheOfItsConfiguration() async throws {
        let cache = RecordingCache()
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            var configuration = ImageLoader.Configuration.patient
            configuration.imageCache = cache
            let first = ImageLoader(configuration: configuration)
            let second = ImageLoader(configuration: configuration)
            let request = ImageRequest(origin.url("/a"))
            _ = try await first.image(for: request)
            await first.coordinator.becomesIdle()
            #expect(try await second.image(for: request).source == .imageCache)
            #expect(cache.count == 1)
        }
    }

    @Test func hitsMissesAndEvictionsAreCounted() async throws {
        let metrics = TestMetrics()
        func count(_ name: String) throws -> Int64 {
            try metrics.expectCounter("webimage_memory_cache_\(name)_total").totalValue
        }
        try await withLoopbackOrigin { origin in
            var configuration = ImageLoader.Configuration.patient
            configuration.metrics = MetricsConfiguration(factory: metrics)
            configuration.maximumMemoryCacheBytes = 64 * 48 * 4 + 1_000
            let loader = ImageLoader(configuration: configuration)
            for path in ["/a", "/b"] {
                origin.route(path, .init(body: try Samples.file(.png)))
                let request = ImageRequest(origin.url(path))
                for _ in 0..<3 {
                    _ = try await loader.image(for: request)
                    await loader.coordinator.becomesIdle()
                }
                _ = try await loader.imageTask(for: request).value
                _ = try await loader.data(for: request)
            }
            #expect(try count("misses") == 2)
            #expect(try count("hits") == 6)
            #expect(try count("evictions") == 1)
        }
    }
}

/// A cache that is not part of the library.
private final class RecordingCache: ImageCache {
    private let images = Locked<[ImageCacheKey: ImageResponse]>([:])
    /// A Boolean value that indicates whether other threads get ahead of an insertion.
    private let isSlow: Bool

    init(isSlow: Bool = false) {
        self.isSlow = isSlow
    }

    func response(for key: ImageCacheKey) -> ImageResponse? { images.withLock { $0[key] } }
    func insert(_ response: ImageResponse, for key: ImageCacheKey) {
        if isSlow { for _ in 0..<10_000 { sched_yield() } }
        images.withLock { $0[key] = response }
    }
    func remove(_ key: ImageCacheKey) { images.withLock { $0[key] = nil } }
    func removeAll(where matches: (ImageCacheKey) -> Bool) {
        images.withLock { images in images = images.filter { !matches($0.key) } }
    }
    func trim(to maximumBytes: Int) {}
    var count: Int { images.withLock { $0.count } }
    var byteCount: Int { 0 }
}
