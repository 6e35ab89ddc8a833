import AsyncWebImage
import Benchmark
import ImageEncoders

/// The cost of loading a stored response of 10 megapixels at 1,024 pixels, by decoding it and from its stored image.
///
/// Both are stored in memory, and there is no memory cache of decoded images. A run is one load.
enum StoredImageBenchmarks {
    private static let url = "http://example.com/photo.jpg"

    static func register() {
        load("Load_jpeg_10_megapixels_to_1024", storesDecodedImages: false)
        load("Load_stored_image_1024", storesDecodedImages: true)
    }

    private static func load(_ name: String, storesDecodedImages: Bool) {
        let configuration = Benchmark.Configuration(
            metrics: [.wallClock, .cpuTotal], warmupIterations: 3, maxDuration: .seconds(2))
        var loader: ImageLoader?
        Benchmark(name, configuration: configuration) { _ in
            blackHole(try await loader?.image(for: request))
        } setup: {
            loader = try await self.loader(storesDecodedImages)
        }
    }

    private static var request: ImageRequest {
        var request = ImageRequest(url, maximumSide: 1_024)
        request.cachePolicy = .cacheOnly
        return request
    }

    /// Returns a loader whose cache contains the response and, if `storesDecodedImages`, its image.
    private static func loader(_ storesDecodedImages: Bool) async throws -> ImageLoader {
        let cache = try ResponseCache(.init())
        var configuration = ImageLoader.Configuration()
        configuration.maximumMemoryCacheBytes = 0
        configuration.responseCache = cache
        configuration.storesDecodedImages = storesDecodedImages
        let file = try Picture.pixels(side: 3_200).encoded(as: .jpeg)
        let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=86400"])
        await cache.store(file, head, for: url)
        let loader = ImageLoader(configuration: configuration)
        _ = try await loader.image(for: request)
        await cache.flush()
        return loader
    }
}
