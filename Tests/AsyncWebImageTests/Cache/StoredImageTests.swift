import Foundation
import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Images that a response cache stores decoded.
@Suite(.timeLimit(.minutes(2)))
struct StoredImageTests {
    let time = ManualTime()

    /// Returns a loader without a memory cache; one that cannot decode rejects every file because of its number of
    /// pixels.
    func loader(
        _ cache: ResponseCache, canDecode: Bool = true, policy: CachePolicy = .useProtocol,
        _ change: (inout ImageLoader.Configuration) -> Void = { _ in }
    ) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        configuration.storesDecodedImages = true
        configuration.cachePolicy = policy
        configuration.maximumMemoryCacheBytes = 0
        if !canDecode { configuration.decoding.limits.maximumPixels = 1 }
        change(&configuration)
        return ImageLoader(configuration: configuration)
    }

    /// Returns the image after everything has been stored.
    @discardableResult
    func load(_ loader: ImageLoader, _ request: ImageRequest) async throws -> ImageResponse {
        let image: Swift.Result<ImageResponse, any Error>
        do { image = .success(try await loader.image(for: request)) } catch { image = .failure(error) }
        await loader.coordinator.becomesIdle()
        await loader.responseCache?.settles()
        return try image.get()
    }

    func withCache<Result>(
        _ storage: TestStorage = .folder, maximumBytes: Int = 64 << 20, maximumEntryBytes: Int = 16 << 20,
        _ body: (LoopbackOrigin, ResponseCache) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                try await body(
                    origin,
                    try storage.cache(
                        folder, time, maximumBytes: maximumBytes, maximumEntryBytes: maximumEntryBytes))
            }
        }
    }

    func isDecoded(_ request: ImageRequest, _ cache: ResponseCache, _ policy: CachePolicy = .cacheOnly) async -> Bool {
        do {
            try await load(loader(cache, canDecode: false, policy: policy), request)
            return false
        } catch {
            return true
        }
    }

    private func images(_ cache: ResponseCache) throws -> Int {
        try (0..<cache.storage.portionCount).reduce(0) { sum, portion in
            sum + (try cache.storage.keys(inPortion: portion).filter { EntryKind($0.name) == .image }.count)
        }
    }

    /// Changes every byte of the bodies of entries in a folder.
    private func damage(_ cache: ResponseCache, images: Bool) throws {
        let folder = cache.configuration.directory ?? ""
        for name in try cacheFiles(folder) where name.hasSuffix(".image") == images && !name.hasSuffix(".vary") {
            let path = URL(fileURLWithPath: "\(folder)/\(name)")
            var entry = try Data(contentsOf: path)
            for index in 2_048..<entry.count { entry[index] ^= 0x41 }
            try entry.write(to: path)
        }
    }

    private let fresh: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"a\""]

    // MARK: Hits

    @Test(arguments: TestStorage.allCases, [ImageFormat.jpeg, .png, .webp])
    func storedImageIsUsedWithoutDecoding(storage: TestStorage, format: ImageFormat) async throws {
        try await withCache(storage) { origin, cache in
            let file = try Samples.file(format, 320, 240)
            origin.route("/a", .init(headerFields: fresh, body: file))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            let first = try await load(loader(cache), request)
            #expect(first.source == .network && first.pixels.size == PixelSize(width: 100, height: 75))
            let second = try await load(loader(cache, canDecode: false), request)
            #expect(second.image == first.image && second.source == cache.source)
            #expect(second.byteCount == file.count && second.head.status == .ok)
            #expect(origin.counts.totalRequests == 1)
            #expect(cache.statistics.hits == 1 && cache.statistics.misses == 1)
        }
    }

    @Test func imageIsStoredWhenTheStoredResponseIsDecoded() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache) { $0.storesDecodedImages = false }, request)
            #expect(try images(cache) == 0)
            try await load(loader(cache), request)
            #expect(try images(cache) == 1)
            #expect(await !isDecoded(request, cache))
        }
    }

    @Test(arguments: [(320, 240), (1_500, 1_200)]) func bodyIsNotReadForAStoredImage(
        width: Int, height: Int
    ) async throws {
        try await withCache { origin, cache in
            let file = try Samples.file(.png, width, height)
            origin.route("/a", .init(headerFields: fresh, body: file))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            let first = try await load(loader(cache), request)
            try damage(cache, images: false)
            let second = try await load(loader(cache), request)
            #expect(second.image == first.image && second.source == .disk)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func eventsOfAStoredImageAreThoseOfASuccessWithoutProgress() async throws {
        try await withCache { origin, cache in
            let file = try Samples.file(.png, 320, 240)
            origin.route("/a", .init(headerFields: fresh, body: file))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache), request)
            let loader = loader(cache)
            let events = loader.coordinator.events()
            let task = loader.imageTask(for: request)
            _ = try await task.value
            #expect(task.head?.status == .ok)
            await loader.coordinator.becomesIdle()
            await loader.shutdown(gracePeriod: .zero)
            var names: [String] = []
            for await event in events {
                switch event.kind {
                case .queued: names.append("queued")
                case .started: names.append("started")
                case .response: names.append("response")
                case .progress: names.append("progress")
                case .retrying: names.append("retrying")
                case .completed(.success(let summary)): names.append("completed \(summary.byteCount)")
                case .completed(.failure): names.append("failed")
                }
            }
            #expect(names == ["queued", "started", "response", "completed \(file.count)"])
        }
    }

    @Test func previewsEndWithTheStoredImage() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.jpeg, 320, 240)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            let first = try await load(loader(cache), request)
            var last: ImageFrame?
            for try await frame in loader(cache, canDecode: false).previews(for: request) { last = frame }
            #expect(last?.isFinal == true && last?.pixels == first.pixels)
        }
    }

    @Test func callersOfOtherVariantsAndOfTheBodyAreServedFromTheBody() async throws {
        try await withCache { origin, cache in
            let file = try Samples.file(.png, 1_500, 1_200)
            origin.route("/a", .init(headerFields: fresh, body: file))
            let small = ImageRequest(origin.url("/a"), maximumSide: 100)
            let first = try await load(loader(cache), small)
            let large = ImageRequest(origin.url("/a"), maximumSide: 200)
            let loader = loader(cache)
            for _ in 0..<10 {
                async let other = loader.image(for: large)
                async let stored = loader.image(for: small)
                async let data = loader.data(for: small)
                #expect(try await stored.image == first.image)
                #expect(try await data.bytes == file)
                #expect(try await other.pixels.width == 200)
                await loader.coordinator.becomesIdle()
            }
            #expect(origin.counts.totalRequests == 1)
        }
    }

    /// Calls `body` while a stored image that has been found waits for memory.
    private func whileAnImageWaits(
        _ file: [UInt8], _ body: (ImageLoader, ImageRequest, ImageTask) async throws -> Void
    ) async throws -> (first: DecodedImage, task: ImageTask) {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: file))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            let first = try await load(loader(cache), request).image
            let loader = loader(cache)
            let events = loader.coordinator.events()
            let task = try await loader.decoder.withMemory(loader.decoder.configuration.memoryBudget) {
                let task = loader.imageTask(for: request)
                for await event in events {
                    if case .response = event.kind { break }
                }
                try await body(loader, request, task)
                return task
            }
            _ = try? await task.value
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 1)
            return (first, task)
        }
    }

    @Test func callerOfTheBodyIsServedWhileAStoredImageWaits() async throws {
        let file = try Samples.file(.png, 1_500, 1_200)
        let (first, task) = try await whileAnImageWaits(file) { loader, request, _ in
            let data = try await loader.data(for: request)
            #expect(data.bytes == file)
        }
        #expect(try await task.value.image == first)
    }

    /// The body of the image's response is damaged, which is detected while the image waits.
    @Test func waitingImageOfAReplacedResponseIsNotDelivered() async throws {
        try await withCache { origin, cache in
            let files = [try Samples.file(.png, 1_500, 1_200), try Samples.file(.jpeg, 1_500, 1_200)]
            origin.route("/a", files.map { .init(headerFields: fresh, body: $0) })
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            let first = try await load(loader(cache), request).image
            try damage(cache, images: false)
            let loader = loader(cache)
            let events = loader.coordinator.events()
            let task = try await loader.decoder.withMemory(loader.decoder.configuration.memoryBudget) {
                let task = loader.imageTask(for: request)
                for await event in events {
                    if case .response = event.kind { break }
                }
                let data = try await loader.data(for: request)
                #expect(data.bytes == files[1])
                return task
            }
            let image = try await task.value.image
            #expect(image.header.format == .jpeg && image != first)
            await loader.coordinator.becomesIdle()
            await cache.settles()
            let again = try await load(self.loader(cache), request)
            #expect(again.image == image)
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func loadThatIsCanceledWhileAStoredImageWaitsEnds() async throws {
        let (_, task) = try await whileAnImageWaits(try Samples.file(.png, 320, 240)) { loader, _, task in
            task.cancel()
            await loader.coordinator.becomesIdle()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: Validity

    @Test(arguments: [CachePolicy.useProtocol, .revalidate])
    func storedImageIsUsedAfterA304(policy: CachePolicy) async throws {
        try await withCache { origin, cache in
            let file = try Samples.file(.png, 320, 240)
            origin.route("/a") { request in
                request.headerFields["If-None-Match"] == "\"a\""
                    ? .init(status: 304, headerFields: fresh) : .init(headerFields: fresh, body: file)
            }
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            let first = try await load(loader(cache), request)
            if policy == .useProtocol { time.advance(by: 61) }
            let second = try await load(loader(cache, canDecode: false, policy: policy), request)
            #expect(second.image == first.image && second.source == .revalidated)
            #expect(second.byteCount == file.count)
            #expect(origin.counts.totalRequests == 2)
            let third = try await load(loader(cache, canDecode: false), request)
            #expect(third.image == first.image && third.source == .disk)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func changedResponseInvalidatesItsStoredImage(storage: TestStorage) async throws {
        try await withCache(storage) { origin, cache in
            let files = [try Samples.file(.png, 320, 240), try Samples.file(.png, 240, 320)]
            origin.route(
                "/a",
                files.enumerated().map { index, file in
                    .init(headerFields: ["Cache-Control": "max-age=60", "ETag": "\"\(index)\""], body: file)
                })
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache), request)
            time.advance(by: 61)
            let second = try await load(loader(cache), request)
            #expect(second.pixels.size == PixelSize(width: 75, height: 100) && second.source == .network)
            let third = try await load(loader(cache, canDecode: false), request)
            #expect(third.image == second.image && third.source == cache.source)
            #expect(try images(cache) == 1)
        }
    }

    @Test func imageOfAnExpiredResponseIsNotUsed() async throws {
        try await withCache { origin, cache in
            let file = try Samples.file(.png, 320, 240)
            origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=60"], body: file))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache), request)
            time.advance(by: 61)
            #expect(await isDecoded(request, cache, .useProtocol))
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test(arguments: TestStorage.allCases, [0, 1, 2, 3])
    func removalOfAResponseRemovesItsImages(storage: TestStorage, way: Int) async throws {
        try await withCache(storage) { origin, cache in
            origin.route("/*", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache), request)
            try await load(loader(cache), ImageRequest(origin.url("/b"), maximumSide: 100))
            #expect(try images(cache) == 2 && cache.entryCount == 4)
            switch way {
            case 0: await cache.remove(origin.url("/a"))
            case 1: try await cache.removeAll()
            case 2:
                let url = origin.url("/a")
                #expect(await cache.removeAll { $0.url == url } == 1)
            default:
                time.advance(by: 61)
                await cache.removeExpired()
            }
            #expect(try images(cache) == (way == 0 || way == 2 ? 1 : 0))
            #expect(await isDecoded(request, cache))
            try await load(loader(cache), request)
            #expect(origin.counts.totalRequests == 3)
        }
    }

    @Test func imageWhoseResponseIsMissingIsNotUsed() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache), request)
            for name in try cacheFiles(cache.configuration.directory ?? "")
            where EntryKind(
                String(name.split(separator: "/").last ?? "")) == .whole
            {
                try FileManager.default.removeItem(atPath: "\(cache.configuration.directory ?? "")/\(name)")
            }
            #expect(try images(cache) == 1)
            #expect(await isDecoded(request, cache))
            let again = try await load(loader(cache), request)
            #expect(again.source == .network)
            // The same bytes, but another stored response.
            #expect(await !isDecoded(request, cache))
            #expect(try images(cache) == 1)
        }
    }

    @Test func damagedStoredImageIsDecodedAgain() async throws {
        try await withCache { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.png, 1_500, 1_200)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 300)
            let first = try await load(loader(cache), request)
            try damage(cache, images: true)
            let second = try await load(loader(cache), request)
            #expect(second.image == first.image && second.source == .disk)
            #expect(origin.counts.totalRequests == 1)
            #expect(await !isDecoded(request, cache))
        }
    }

    @Test func storedImageThatIsNotAPackedImageIsDecodedAgain() async throws {
        try await withCache(.memory) { origin, cache in
            origin.route("/a", .init(headerFields: fresh, body: try Samples.file(.png, 320, 240)))
            let request = ImageRequest(origin.url("/a"), maximumSide: 100)
            try await load(loader(cache), request)
            let variant = try #require(request.options.storedVariant)
            let transportRequest = TransportRequest(url: try HTTPURL(request.url))
            await cache.thread.run {
                guard let stored = cache.find(.whole, transportRequest, CacheKey(transportRequest)) else { return }
                cache.storeImage([1, 2, 3], variant, of: stored)
            }
            #expect(await isDecoded(request, cache))
            #expect(try images(cache) == 0)
            try await load(loader(cache), request)
            #expect(await !isDecoded(request, cache))
        }
    }
}
