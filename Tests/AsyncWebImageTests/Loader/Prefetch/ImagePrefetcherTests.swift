@testable import AsyncWebImage
import ImageEncoders
import LoopbackOrigin
@testable import ResponseCache
import Synchronization
import TestSupport
import Testing

/// Loading ahead of time, against a real origin.
@Suite(.timeLimit(.minutes(2)))
struct ImagePrefetcherTests {
    /// The number of images that a prefetcher loads at a time, by default.
    static let defaultConcurrentLoads = 64

    private func loader(slots: Int = 6) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = slots
        return ImageLoader(configuration: configuration)
    }

    private func requests(_ range: Range<Int>, from origin: LoopbackOrigin) -> [ImageRequest] {
        range.map { ImageRequest(origin.url("/\($0).png"), maximumSide: 20) }
    }

    @Test func prefetchedImagesComeFromTheMemoryCache() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)))
            let loader = loader()
            let requests = requests(0..<20, from: origin)
            let result = await ImagePrefetcher(loader: loader).prefetch(requests).result
            #expect(result.progress.finished == 20 && result.progress.failed == 0 && result.failures.isEmpty)
            for request in requests {
                let image = try await loader.image(for: request)
                #expect(image.source == .imageCache && image.pixels.size == PixelSize(width: 20, height: 15))
            }
            #expect(origin.counts.totalRequests == 20)
        }
    }

    @Test func prefetchedFilesAreStored() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(headerFields: ["Cache-Control": "max-age=60"], body: try Samples.file(.png)))
            origin.route("/3.png", .init(status: 404))
            var configuration = ImageLoader.Configuration.patient
            let cache = try ResponseCache.test(nil, ManualTime())
            configuration.responseCache = cache
            let loader = ImageLoader(configuration: configuration)
            let (requests, rule) = (requests(0..<6, from: origin), OutputRule(.webp()))
            let result = await ImagePrefetcher(loader: loader, destination: .files(rule)).prefetch(requests).result
            #expect(result.progress.finished == 5 && result.progress.failed == 1)
            #expect(result.failures.map(\.url) == [origin.url("/3.png")])
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 6)
            // The originals are not needed.
            await cache.removeAll { !$0.isResult }
            for request in requests where request.url != origin.url("/3.png") {
                let file = try await loader.file(for: request, as: rule)
                #expect(file.source == .responseCacheMemory && file.size == PixelSize(width: 20, height: 15))
            }
            #expect(origin.counts.totalRequests == 6 && loader.imageCache.count == 0)
        }
    }

    @Test func prefetcherDoesNotReloadCachedImages() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)))
            let prefetcher = ImagePrefetcher(loader: loader())
            _ = await prefetcher.prefetch(requests(0..<5, from: origin)).result
            let again = await prefetcher.prefetch(requests(0..<6, from: origin)).result
            #expect(again.progress.finished == 6)
            #expect(origin.counts.totalRequests == 6)
        }
    }

    @Test func emptyPrefetchListFinishesAtOnce() async {
        let task = ImagePrefetcher(loader: loader()).prefetch([])
        var seen: [PrefetchProgress] = []
        for await progress in task.progress { seen.append(progress) }
        #expect(seen.last?.total == 0)
        #expect(await task.result.progress.finished == 0)
    }

    /// Images that are not being loaded are not even requested from the collection.
    @Test func prefetcherTakesRequestsFromItsListOnlyAsSlotsAreFree() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/*", .init(body: try Samples.file(.png)).held(at: .start, until: gate))
            let loader = loader()
            let taken = Counter()
            let prefetcher = ImagePrefetcher(loader: loader, maximumConcurrentLoads: 3)
            let task = prefetcher.prefetch(
                (0..<1_000_000).lazy.map { index in
                    taken.increment()
                    return ImageRequest(origin.url("/\(index).png"))
                })
            await loader.coordinator.callers(reach: 3)
            #expect(taken.count <= 4)
            gate.open()
            while task.snapshot.finished < 10, !Task.isCancelled { await Task.yield() }
            #expect(taken.count < 1_000)
            task.cancel()
            let result = await task.result
            #expect(result.progress.total == 1_000_000 && result.progress.finished + 4 >= taken.count)
            #expect(result.progress.failed == 0)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func prefetchListsShareTheSlots() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/*", .init(body: try Samples.file(.png)).held(at: .start, until: gate))
            let loader = loader(slots: 100)
            let prefetcher = ImagePrefetcher(loader: loader, maximumConcurrentLoads: 2)
            let tasks = [
                prefetcher.prefetch(requests(0..<10, from: origin)),
                prefetcher.prefetch(requests(10..<20, from: origin)),
            ]
            await loader.coordinator.callers(reach: 2)
            gate.open()
            for task in tasks { #expect(await task.result.progress.finished == 10) }
            #expect(origin.counts.maximumRunningRequests <= 2)
        }
    }

    // MARK: Beside others

    @Test func visibleImageLoadsWhilePrefetcherIsBusy() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/*", .init(body: file).stalled(at: .start))
            origin.route("/screen.png", .init(body: file))
            let loader = loader(slots: 4)
            let prefetcher = ImagePrefetcher(loader: loader, maximumConcurrentLoads: 50)
            let task = prefetcher.prefetch(requests(0..<100, from: origin))
            await loader.coordinator.activity { $0.running == 2 && $0.waitingByPriority == [.low: 48] }

            let image = try await loader.image(for: ImageRequest(origin.url("/screen.png")))
            #expect(image.source == .network)

            task.cancel()
            #expect(await task.result.progress.finished == 0)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func requestForAPrefetchedImageRaisesItsPriority() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let file = try Samples.file(.png)
            origin.route("/0.png", .init(body: file).held(at: .start, until: gate))
            origin.route("/*", .init(body: file))
            let loader = loader(slots: 2)
            let requests = requests(0..<20, from: origin)
            let prefetcher = ImagePrefetcher(loader: loader, maximumConcurrentLoads: 20)
            // Occupies the slot for low priorities.
            let held = prefetcher.prefetch(Array(requests[..<1]))
            await loader.coordinator.activity { $0.running == 1 }
            let task = prefetcher.prefetch(Array(requests[1...]))
            await loader.coordinator.activity { $0.running == 1 && $0.callers == 20 }

            let image = try await loader.image(for: requests[19])
            #expect(image.source == .joined)
            #expect(task.snapshot.finished <= 1)
            gate.open()
            #expect(await held.result.progress.finished == 1)
            #expect(await task.result.progress.finished == 19)
        }
    }

    // MARK: Pausing, canceling

    /// With `nil`, the prefetcher has the default limit.
    @Test(arguments: [(2, 2), (nil, defaultConcurrentLoads)])
    func pausedPrefetcherFinishesRunningLoadsOnly(limit: Int?, running: Int) async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/*", .init(body: try Samples.file(.png)).held(at: .start, until: gate))
            let loader = loader()
            let prefetcher =
                limit.map { ImagePrefetcher(loader: loader, maximumConcurrentLoads: $0) }
                ?? ImagePrefetcher(loader: loader)
            let task = prefetcher.prefetch(requests(0..<100, from: origin))
            await loader.coordinator.callers(reach: running)
            prefetcher.pause()
            gate.open()
            while task.snapshot.finished < running, !Task.isCancelled { await Task.yield() }
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == running)

            prefetcher.resume()
            #expect(await task.result.progress.finished == 100)
        }
    }

    @Test func cancelingAPausedPrefetchListEndsIt() async throws {
        let prefetcher = ImagePrefetcher(loader: loader())
        prefetcher.pause()
        let task = prefetcher.prefetch((0..<10).map { ImageRequest("http://127.0.0.1:1/\($0)") })
        task.cancel()
        let progress = await task.result.progress
        #expect(progress.finished == 0 && progress.failed == 0 && progress.total == 10)
    }

    @Test func cancelingOnePrefetchListDoesNotAffectOthers() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/*", .init(body: try Samples.file(.png)).held(at: .body(50), until: gate))
            let loader = loader()
            let prefetcher = ImagePrefetcher(loader: loader, maximumConcurrentLoads: 4)
            let cancelled = prefetcher.prefetch(requests(0..<2, from: origin))
            let kept = prefetcher.prefetch(requests(1..<3, from: origin))
            await loader.coordinator.callers(reach: 4)
            cancelled.cancel()
            #expect(await cancelled.result.progress.finished == 0)
            gate.open()
            #expect(await kept.result.progress.finished == 2)
            await loader.coordinator.becomesIdle()
        }
    }

    // MARK: Progress and failures

    @Test func prefetchProgressEndsWithTheFinalCount() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)))
            origin.route("/3.png", .init(status: 404))
            let task = ImagePrefetcher(loader: loader()).prefetch(requests(0..<10, from: origin))
            var last: PrefetchProgress?
            for await progress in task.progress {
                if let last { #expect(progress.finished >= last.finished && progress.failed >= last.failed) }
                last = progress
            }
            #expect(last?.finished == 9 && last?.failed == 1 && last?.total == 10)
            // A late consumer gets the end.
            var late: [PrefetchProgress] = []
            for await progress in task.progress { late.append(progress) }
            #expect(late == [task.snapshot])
        }
    }

    @Test func prefetcherCountsFailuresAndReportsFirst() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 200, 200)
            origin.route("/*", .init(status: 404))
            origin.route("/cut.png", .init(body: Array(file.prefix(file.count / 2))))
            origin.route("/whole.png", .init(body: file))
            let paths = ["/cut.png", "/whole.png"] + (0..<120).map { "/\($0).png" }
            let requests = paths.map { ImageRequest(origin.url($0)) } + [ImageRequest("no URL")]
            let result = await ImagePrefetcher(loader: loader()).prefetch(requests).result
            #expect(result.progress.finished == 1 && result.progress.failed == 122)
            #expect(result.failures.count == 100)
            let cut = try #require(result.failures.first { $0.url == origin.url("/cut.png") })
            guard case ImageError.codec(_, _, partial: nil) = cut.error else {
                Issue.record("\(cut.error)")
                return
            }
        }
    }

    @Test func cancelAllFailsThePrefetchedImages() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)).stalled(at: .start))
            let loader = loader()
            let task = ImagePrefetcher(loader: loader).prefetch(requests(0..<4, from: origin))
            await loader.coordinator.callers(reach: 4)
            await loader.coordinator.cancelAll()
            let result = await task.result
            #expect(result.progress.failed == 4)
            #expect(result.failures.allSatisfy { $0.error is CancellationError })
        }
    }
}

private final class Counter: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func increment() { value.wrappingAdd(1, ordering: .relaxed) }
}
