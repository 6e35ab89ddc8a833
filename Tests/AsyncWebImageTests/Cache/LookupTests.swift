import HTTPTransport
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import AsyncWebImage
@testable import ResponseCache

/// Requests that the response cache can answer need no slot.
@Suite(.timeLimit(.minutes(2)))
struct LookupTests {
    private let time = ManualTime()
    private let body = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 11) }

    /// Returns a loader with one slot, and its cache in memory.
    private func makeLoader(
        clock: any Clock<Duration> = ContinuousClock(), _ change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> (ImageLoader, ResponseCache) {
        var configuration = ImageLoader.Configuration.patient
        let cache = try ResponseCache.test(nil, time)
        configuration.responseCache = cache
        configuration.downloads.maximumConcurrentDownloads = 1
        change(&configuration.downloads)
        return (ImageLoader(configuration: configuration, clock: clock), cache)
    }

    private func request(_ url: String, _ policy: CachePolicy) -> ImageRequest {
        var request = ImageRequest(url)
        request.cachePolicy = policy
        return request
    }

    /// Blocks the cache while `body` runs.
    private func whileBlocked<Result>(
        _ cache: ResponseCache, _ body: () async throws -> Result
    ) async throws -> Result {
        let held = HeldCache(cache)
        defer { held.release() }
        return try await body()
    }

    /// Returns the events up to the end of the last of `count` downloads.
    private func names(_ events: AsyncStream<DownloadEvent>, downloads count: Int = 1) async -> [String] {
        var names: [String] = []
        var ended = 0
        for await event in events {
            switch event.kind {
            case .queued: names.append("queued")
            case .started(let attempt): names.append("started \(attempt)")
            case .response: names.append("response")
            case .progress: break
            case .retrying: names.append("retrying")
            case .completed(let result):
                names.append((try? result.get()) == nil ? "failed" : "completed")
                ended += 1
            }
            if ended == count { break }
        }
        return names
    }

    @Test(arguments: [CachePolicy.useProtocol, .cacheElseLoad, .cacheOnly])
    func storedResponseIsServedWhileAllSlotsAreTaken(policy: CachePolicy) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/stalled", Response().stalled(at: .start))
            let (loader, cache) = try makeLoader()
            try await cache.store(body, origin.url("/a"))
            let stalled = loader.dataTask(for: ImageRequest(origin.url("/stalled")))
            await origin.requests(to: "/stalled", reach: 1)
            let data = try await loader.data(for: request(origin.url("/a"), policy))
            #expect(data.bytes == body && data.source == .responseCacheMemory)
            stalled.cancel()
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func rateLimitPerHostDoesNotDelayStoredResponses() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let clock = ManualClock()
            let (loader, cache) = try makeLoader(clock: clock) { $0.rateLimitPerHost = RateLimit(requestsPerSecond: 1) }
            for number in 0..<5 { try await cache.store(body, origin.url("/\(number)")) }
            for number in 0..<5 {
                #expect(try await loader.data(for: ImageRequest(origin.url("/\(number)"))).bytes == body)
            }
            // They have not used up the host's rate limit.
            #expect(try await loader.data(for: ImageRequest(origin.url("/a"))).bytes == [1])
            #expect(try await loader.data(for: ImageRequest(origin.url("/0"))).bytes == body)
        }
    }

    @Test func concurrentCacheLookupsAreLimited() async throws {
        let (loader, cache) = try makeLoader()
        let urls = (0..<1_000).map { "http://example.com/\($0)" }
        for url in urls { try await cache.store([1, 2, 3], url) }
        let tasks = try await whileBlocked(cache) {
            let tasks = urls.map { loader.dataTask(for: ImageRequest($0)) }
            await loader.coordinator.callers(reach: urls.count)
            let activity = await loader.coordinator.activity
            #expect(activity.running == DownloadMachine.maximumConcurrentLookups)
            #expect(activity.waiting == urls.count - DownloadMachine.maximumConcurrentLookups)
            return tasks
        }
        for task in tasks { #expect(try await task.value.bytes == [1, 2, 3]) }
        await loader.coordinator.becomesIdle()
    }

    @Test func suspendedLoaderStartsNoCacheLookups() async throws {
        let (loader, cache) = try makeLoader()
        try await cache.store(body, "http://example.com/a")
        await loader.coordinator.suspend()
        let task = loader.dataTask(for: ImageRequest("http://example.com/a"))
        await loader.coordinator.callers(reach: 1)
        let activity = await loader.coordinator.activity
        #expect(activity.running == 0 && activity.waiting == 1)
        await loader.coordinator.resume()
        #expect(try await task.value.bytes == body)
    }

    @Test func cacheLookupCanBeCanceled() async throws {
        try await withLoopbackOrigin { origin in
            let (loader, cache) = try makeLoader()
            let events = loader.coordinator.events()
            try await whileBlocked(cache) {
                let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
                await loader.coordinator.activity { $0.running == 1 }
                task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
            }
            await loader.coordinator.becomesIdle()
            #expect(await names(events) == ["queued", "failed"])
            #expect(origin.counts.totalRequests == 0)
        }
    }

    @Test func callerJoiningLookupIsServedAfterFirstCallerLeaves() async throws {
        let (loader, cache) = try makeLoader()
        try await cache.store(body, "http://example.com/a")
        let second = try await whileBlocked(cache) {
            let first = loader.dataTask(for: ImageRequest("http://example.com/a"))
            await loader.coordinator.activity { $0.running == 1 }
            let second = loader.dataTask(for: ImageRequest("http://example.com/a"))
            await loader.coordinator.callers(reach: 2)
            first.cancel()
            return second
        }
        #expect(try await second.value.bytes == body)
    }

    @Test func cacheMissEntersQueueWithCurrentPriority() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/stalled", Response().stalled(at: .start))
            origin.route("/*", .init(body: [1]))
            let (loader, cache) = try makeLoader()
            let stalled = loader.dataTask(for: ImageRequest(origin.url("/stalled")))
            await origin.requests(to: "/stalled", reach: 1)
            let tasks = try await whileBlocked(cache) {
                let tasks = (0..<3).map { loader.dataTask(for: ImageRequest(origin.url("/\($0)"))) }
                await loader.coordinator.activity { $0.running == 4 }
                tasks[2].priority = .high
                tasks[0].priority = .low
                return tasks
            }
            await loader.coordinator.activity { $0.running == 1 && $0.waiting == 3 }
            #expect(await loader.coordinator.activity.waitingByPriority == [.high: 1, .normal: 1, .low: 1])
            stalled.cancel()
            for task in tasks { #expect(try await task.value.bytes == [1]) }
            #expect(origin.recordedRequests.map(\.path) == ["/stalled", "/2", "/1", "/0"])
        }
    }

    @Test func everyDownloadReportsEventsOnceWhateverItsSource() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/b", .init(body: [1]))
            let (loader, cache) = try makeLoader()
            try await cache.store(body, origin.url("/a"))
            let events = loader.coordinator.events()
            _ = try await loader.data(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.becomesIdle()
            _ = try await loader.data(for: ImageRequest(origin.url("/b")))
            await loader.coordinator.becomesIdle()
            _ = try? await loader.data(for: request(origin.url("/c"), .cacheOnly))
            await loader.coordinator.becomesIdle()
            let whole = ["queued", "started 1", "response", "completed"]
            #expect(await names(events, downloads: 3) == whole + whole + ["queued", "started 1", "failed"])
        }
    }

    @Test func revalidationTakesSlot() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/stalled", Response().stalled(at: .start))
            origin.route("/a", .init(status: 304, headerFields: ["ETag": "\"a\""]))
            let (loader, cache) = try makeLoader()
            try await cache.store(body, origin.url("/a"), [.eTag: "\"a\"", .cacheControl: "max-age=10"])
            time.advance(by: 20)
            let stalled = loader.dataTask(for: ImageRequest(origin.url("/stalled")))
            await origin.requests(to: "/stalled", reach: 1)
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.activity { $0.running == 1 && $0.waiting == 1 }
            stalled.cancel()
            let data = try await task.value
            #expect(data.bytes == body && data.source == .revalidated)
        }
    }

    @Test func entryRemovedWhileQueuedIsFetchedUnconditionally() async throws {
        try await withTemporaryFolder { folder in
            try await withLoopbackOrigin { origin in
                origin.route("/stalled", Response().stalled(at: .start))
                origin.route("/a", .init(body: [1, 2, 3]))
                var configuration = ImageLoader.Configuration.patient
                let cache = try ResponseCache.test(folder, time)
                configuration.responseCache = cache
                configuration.downloads.maximumConcurrentDownloads = 1
                let loader = ImageLoader(configuration: configuration)
                try await cache.store(body, origin.url("/a"), [.eTag: "\"a\"", .cacheControl: "max-age=0"])
                let stalled = loader.dataTask(for: ImageRequest(origin.url("/stalled")))
                await origin.requests(to: "/stalled", reach: 1)
                let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
                await loader.coordinator.activity { $0.running == 1 && $0.waiting == 1 }
                await cache.remove(origin.url("/a"))
                stalled.cancel()
                let data = try await task.value
                #expect(data.bytes == [1, 2, 3] && data.source == .network)
                #expect(origin.recordedRequests(to: "/a").map { $0.headerFields["If-None-Match"] } == [nil])
                await loader.coordinator.becomesIdle()
            }
        }
    }

    @Test func requestModifierRunsOnceForEachSentRequest() async throws {
        struct Counting: RequestModifier {
            func modify(_ request: TransportRequest) async throws -> TransportRequest {
                var request = request
                request.headerFields[.userAgent] = (request.headerFields[.userAgent] ?? "") + "+"
                return request
            }
        }
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=60"], body: body))
            let (loader, cache) = try makeLoader {
                $0.requestModifier = Counting()
                $0.headerFields[.userAgent] = "test"
            }
            _ = try await loader.data(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.becomesIdle()
            await cache.settles()
            #expect(try await loader.data(for: ImageRequest(origin.url("/a"))).source == .responseCacheMemory)
            #expect(origin.recordedRequests.map { $0.headerFields["User-Agent"] } == ["test+"])
        }
    }

    @Test func responseValidatorRunsOncePerResponseFromAnySource() async throws {
        final class Counting: ResponseValidator {
            let count = Locked(0)

            func validate(_ head: ResponseHead, to request: TransportRequest) async throws {
                count.withLock { $0 += 1 }
            }
        }
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=60"], body: body))
            let validator = Counting()
            let (loader, cache) = try makeLoader { $0.responseValidator = validator }
            for source in [ResponseSource.network, .responseCacheMemory] {
                let data = try await loader.data(for: ImageRequest(origin.url("/a")))
                #expect(data.bytes == body && data.source == source)
                await loader.coordinator.becomesIdle()
                await cache.settles()
            }
            #expect(validator.count.withLock { $0 } == 2)
        }
    }

    @Test func shutdownWaitsForCacheLookups() async throws {
        let (loader, cache) = try makeLoader()
        try await cache.store(body, "http://example.com/a")
        let held = HeldCache(cache)
        let task = loader.dataTask(for: ImageRequest("http://example.com/a"))
        await loader.coordinator.activity { $0.running == 1 }
        async let end: Void = loader.shutdown(gracePeriod: .zero)
        await #expect(throws: ImageError.self) { try await task.value }
        held.release()
        await end
        #expect(await loader.coordinator.activity.running == 0)
    }

    private typealias Response = LoopbackOrigin.Response
}
