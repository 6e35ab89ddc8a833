import Foundation
import HTTPTypes
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// Encoded files that are stored beside the responses from which they were made.
@Suite(.timeLimit(.minutes(4)))
struct StoredFileTests {
    let time = ManualTime()

    func loader(_ cache: ResponseCache) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.responseCache = cache
        return ImageLoader(configuration: configuration)
    }

    func withStorage(
        _ storage: TestStorage, _ body: (LoopbackOrigin, ResponseCache, ImageLoader) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let cache = try storage.cache(folder, time)
            try await withLoopbackOrigin { origin in try await body(origin, cache, loader(cache)) }
        }
    }

    func response(
        _ control: String, tag: String? = nil, age: Int = 0, side: Int = 64
    ) throws -> LoopbackOrigin.Response {
        let fields: HeaderFields =
            tag.map { ["Cache-Control": control, "Age": "\(age)", "ETag": $0] }
            ?? ["Cache-Control": control, "Age": "\(age)"]
        return .init(headerFields: fields, body: try Samples.file(.png, side, side))
    }

    func file(
        _ loader: ImageLoader, _ url: String, _ rule: OutputRule = OutputRule(.webp()), side: Int = 16,
        policy: CachePolicy? = nil
    ) async throws -> ImageFile {
        var request = ImageRequest(url, maximumSide: side)
        request.cachePolicy = policy
        let file = try await loader.file(for: request, as: rule)
        await loader.coordinator.becomesIdle()
        return file
    }

    @Test(arguments: TestStorage.allCases)
    func storedFileIsUsedWithoutTheOriginal(storage: TestStorage) async throws {
        try await withStorage(storage) { origin, cache, loader in
            origin.route("/image", try response("max-age=60"))
            let made = try await file(loader, origin.url("/image"))
            // The original is gone.
            await cache.removeAll { !$0.isResult }
            let stored = try await file(self.loader(cache), origin.url("/image"))
            #expect(stored.bytes == made.bytes)
            #expect(stored.entityTag == made.entityTag)
            #expect(stored.format == .webp)
            #expect(stored.size == made.size)
            #expect(stored.source == (storage == .memory ? .responseCacheMemory : .disk))
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func storedFileOutlivesTheProcess() async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/image", try response("max-age=60"))
                let made = try await file(loader(try .test(folder, time)), origin.url("/image"))
                let stored = try await file(loader(try .test(folder, time)), origin.url("/image"))
                #expect(stored.entityTag == made.entityTag)
                #expect(stored.source == .disk)
                #expect(origin.counts.totalRequests == 1)
            }
        }
    }

    @Test func handleOfAStoredFileHasIt() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            origin.route("/image", try response("max-age=60", tag: "\"v1\""))
            let made = try await file(loader, origin.url("/image"))
            let task = loader.fileTask(
                for: ImageRequest(origin.url("/image"), maximumSide: 16), as: OutputRule(.webp()))
            #expect(try await task.value.entityTag == made.entityTag)
            #expect(task.head?.response.headerFields[.eTag] == "\"v1\"")
            #expect(task.head?.response.headerFields[.contentLength] == nil)
        }
    }

    @Test func fileIsAsFreshAsItsOriginal() async throws {
        try await withStorage(.memory) { origin, _, loader in
            origin.route("/image", try response("max-age=60"))
            _ = try await file(loader, origin.url("/image"))
            time.advance(by: 59)
            _ = try await file(loader, origin.url("/image"))
            #expect(origin.counts.totalRequests == 1)
            time.advance(by: 1)
            _ = try await file(loader, origin.url("/image"))
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func ageThatAResponseArrivesWithCounts() async throws {
        try await withStorage(.memory) { origin, _, loader in
            origin.route("/image", try response("max-age=60", age: 50))
            _ = try await file(loader, origin.url("/image"))
            time.advance(by: 10)
            _ = try await file(loader, origin.url("/image"))
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func filesOfAnOriginalThatIsTooLargeToBeStoredRemain(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                let original = try response("max-age=60", tag: "\"v1\"")
                let cache = try storage.cache(folder, time, maximumEntryBytes: original.body.count - 1)
                let loader = loader(cache)
                origin.route("/image", original)
                for side in [16, 20, 16, 20] { _ = try await file(loader, origin.url("/image"), side: side) }
                await cache.settles()
                #expect(origin.counts.totalRequests == 2)
                #expect(cache.entryCount == 2)

                origin.route("/image", try response("max-age=60", tag: "\"v2\""))
                _ = try await file(loader, origin.url("/image"), side: 24)
                await cache.settles()
                #expect(cache.entryCount == 1)
            }
        }
    }

    @Test func fileOfAnEarlierResponseIsNotStored() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            origin.route("/image", try response("max-age=600"))
            let url = origin.url("/image")
            _ = try await loader.data(for: ImageRequest(url))
            await loader.coordinator.becomesIdle()
            let key = try #require(
                FileIdentity(recipe: PixelRecipe(), rule: OutputRule(.jpeg())).key(
                    of: try loader.fetchKey(ImageRequest(url)), await loader.coordinator.configuration))
            let head = try await loader.data(for: ImageRequest(url)).head
            time.advance(by: 5)
            var request = ImageRequest(url)
            request.cachePolicy = .reload
            _ = try await loader.data(for: request)
            await cache.settles()
            await cache.store([1, 2, 3], properties: "image/jpeg 1 1 \"tag\"", from: head, for: key)
            #expect(cache.entryCount == 1)
        }
    }

    @Test func fileOfAResponseThatAnotherRequestHasReplacedMeanwhileIsNotStored() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            let gate = Gate()
            defer { gate.open() }
            let body = try Samples.file(.png, 64, 64)
            origin.route("/image", try response("max-age=600").held(at: .body(100), until: gate))
            let task = loader.fileTask(for: ImageRequest(origin.url("/image")), as: OutputRule(.webp()))
            await origin.requests(to: "/image", reach: 1)
            time.advance(by: 5)
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=600"])
            await cache.store(body, head, for: origin.url("/image"))
            time.advance(by: 5)
            gate.open()
            _ = try await task.value
            await loader.coordinator.becomesIdle()
            #expect(cache.entryCount == 1)
        }
    }

    @Test(arguments: TestStorage.allCases)
    func fileOfABodyThatARetryHasContinuedIsStored(storage: TestStorage) async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                let image = RangedFile(body: try Samples.file(.png, 256, 256))
                let point = image.body.count * 3 / 4
                origin.route("/image") { [time] request in
                    var response = image.response(to: request)
                    response.headerFields.append("Cache-Control", "max-age=600")
                    if request.ordinal == 1 { return response.cut(at: .body(point)) }
                    time.advance(by: 5)
                    return response
                }
                var configuration = ImageLoader.Configuration.patient
                configuration.downloads.retry = ExponentialBackoff(base: .zero)
                configuration.responseCache = try storage.cache(folder, time)
                let loader = ImageLoader(configuration: configuration)
                #expect(try await file(loader, origin.url("/image")).source == .network)
                let stored = try await file(loader, origin.url("/image"))
                #expect(stored.source == (storage == .memory ? .responseCacheMemory : .disk))
                let ranges = origin.recordedRequests(to: "/image").map { $0.headerFields["Range"] }
                #expect(ranges == [nil, "bytes=\(point)-"])
            }
        }
    }

    @Test(arguments: TestStorage.allCases)
    func newResponseRemovesTheFilesOfTheEarlierOne(storage: TestStorage) async throws {
        try await withStorage(storage) { origin, cache, loader in
            origin.route("/image", try response("max-age=600"))
            let old = try await file(loader, origin.url("/image"))
            time.advance(by: 5)
            origin.route("/image", try response("max-age=600", side: 80))
            var request = ImageRequest(origin.url("/image"))
            request.cachePolicy = .reload
            _ = try await loader.data(for: request)
            await cache.settles()
            #expect(try await file(loader, origin.url("/image")).entityTag != old.entityTag)
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func removingAResponseRemovesItsFiles() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            origin.route("/image", try response("max-age=600"))
            _ = try await file(loader, origin.url("/image"))
            #expect(cache.entryCount == 2)
            await cache.remove(origin.url("/image"))
            #expect(cache.entryCount == 0)
        }
    }

    @Test func filesThatDifferInAnythingAreSeparate() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            origin.route("/image", try response("max-age=600"))
            let url = origin.url("/image")
            let rules = [
                OutputRule(.webp()), OutputRule(.webp(WebPOptions(quality: 50))), OutputRule(.jpeg()),
                OutputRule(.webp(), metadata: .exif), OutputRule(.webp(), keepsAnimations: false),
                OutputRule(accepting: "image/png"),
            ]
            for rule in rules { _ = try await file(loader, url, rule) }
            _ = try await file(loader, url, side: 17)
            #expect(cache.entryCount == rules.count + 2)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func filesOfOneResponseHaveALimit() async throws {
        try await withStorage(.folder) { origin, cache, loader in
            origin.route("/image", try response("max-age=600"))
            for side in 1...(ResponseCache.maximumResults + 3) {
                _ = try await file(loader, origin.url("/image"), OutputRule(.png()), side: side)
            }
            #expect(cache.entryCount == ResponseCache.maximumResults + 1)
        }
    }

    @Test func policyAppliesToFiles() async throws {
        try await withStorage(.memory) { origin, cache, loader in
            origin.route("/image", try response("max-age=60"))
            let url = origin.url("/image")
            await #expect(throws: ImageError.self) { try await file(loader, url, policy: .cacheOnly) }
            _ = try await file(loader, url, policy: .noStore)
            #expect(cache.entryCount == 0)
            let made = try await file(loader, url, policy: .reload)
            #expect(cache.entryCount == 2)
            time.advance(by: 100)
            #expect(try await file(loader, url, policy: .cacheOnly).entityTag == made.entityTag)
            #expect(try await file(loader, url, policy: .cacheElseLoad).entityTag == made.entityTag)
            #expect(origin.counts.totalRequests == 2)
            _ = try await file(loader, url, policy: .reload)
            #expect(origin.counts.totalRequests == 3)
        }
    }

    @Test func responseThatMayNotBeStoredHasNoStoredFiles() async throws {
        try await withStorage(.memory) { origin, cache, loader in
            origin.route("/image", try response("no-store"))
            _ = try await file(loader, origin.url("/image"))
            _ = try await file(loader, origin.url("/image"))
            #expect(cache.entryCount == 0)
            #expect(origin.counts.totalRequests == 2)
        }
    }

    @Test func requestsOfOthersDoNotShareFiles() async throws {
        try await withStorage(.memory) { origin, _, loader in
            origin.route("/image", try response("max-age=60"))
            var request = ImageRequest(origin.url("/image"), maximumSide: 16)
            for user in ["a", "b"] {
                request.credential = .basic(user: user, password: "secret")
                let file = try await loader.file(for: request, as: OutputRule(.jpeg()))
                #expect(file.source == .network)
                await loader.coordinator.becomesIdle()
            }
        }
    }

    @Test func partialImagesAreNotStored() async throws {
        try await withStorage(.memory) { origin, cache, loader in
            let half = Array(try Samples.file(.jpeg).dropLast(200))
            origin.route("/image", .init(headerFields: ["Cache-Control": "max-age=60"], body: half))
            var request = ImageRequest(origin.url("/image"))
            request.options.allowsPartial = true
            #expect(try await loader.file(for: request, as: OutputRule(.png())).isPartial)
            await loader.coordinator.becomesIdle()
            #expect(cache.entryCount == 1)
        }
    }

    @Test func damagedFileIsMadeAgain() async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/image", try response("max-age=60"))
                let made = try await file(loader(try .test(folder, time)), origin.url("/image"))
                let name = try #require(try cacheFiles(folder).first { $0.hasSuffix(".res") })
                let path = URL(fileURLWithPath: "\(folder)/\(name)")
                var bytes = try Data(contentsOf: path)
                bytes[bytes.count - 3] ^= 0xFF
                try bytes.write(to: path)
                let again = try await file(loader(try .test(folder, time)), origin.url("/image"))
                #expect(again.entityTag == made.entityTag)
                #expect(again.bytes == made.bytes)
                #expect(origin.counts.totalRequests == 1)
            }
        }
    }
}
