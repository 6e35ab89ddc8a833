import LoopbackOrigin
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// The shutdown of a loader, usually against a real origin; the time is simulated.
@Suite(.timeLimit(.minutes(2)))
struct ShutdownTests {
    private let clock = ManualClock()

    private func loader(slots: Int = 6, _ change: (inout DownloadConfiguration) -> Void = { _ in }) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = slots
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, clock: clock)
    }

    private func request(_ url: String, finishes: Bool = false) -> ImageRequest {
        var request = ImageRequest(url)
        request.finishesOnShutdown = finishes
        return request
    }

    private func expectShutDown<Value: Sendable>(_ task: LoadTask<Value>) async {
        let error = await #expect(throws: ImageError.self) { _ = try await task.value }
        guard case .shutDown? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private func expectNothingIsActive(in loader: ImageLoader) async {
        let activity = await loader.coordinator.activity
        #expect(activity.running == 0 && activity.waiting == 0 && activity.callers == 0)
        #expect(await loader.coordinator.current { $0.decodes.isEmpty })
        // The transport's thread may be about to let go of the last body.
        await loader.coordinator.becomesIdle()
    }

    @Test func memoryOfFinishedBodiesIsReleased() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/large", .init(body: [UInt8](repeating: 1, count: 200_000)))
            let loader = loader()
            _ = try await loader.data(for: request(origin.url("/large")))
            while await loader.coordinator.environment.buffers.byteCount == 0, !Task.isCancelled { await Task.yield() }
            await loader.shutdown(gracePeriod: .zero)
            #expect(await loader.coordinator.environment.buffers.byteCount == 0)
        }
    }

    @Test func memoryOfPixelsIsReleased() async {
        let loader = loader()
        loader.decoder.pixels.keep([UInt8](repeating: 1, count: 2_000_000))
        #expect(loader.decoder.pixels.byteCount > 0)
        await loader.shutdown(gracePeriod: .zero)
        #expect(loader.decoder.pixels.byteCount == 0)
    }

    // MARK: Downloads that may finish

    @Test func shutdownFinishesMarkedDownloadsAndEndsOthersAtOnce() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/marked", .init(body: [1]).held(at: .start, until: gate))
            origin.route("/other", .init(body: [2]).stalled(at: .start))
            let loader = loader()
            let marked = loader.dataTask(for: request(origin.url("/marked"), finishes: true))
            let other = loader.dataTask(for: request(origin.url("/other")))
            await origin.requests(to: "/marked", reach: 1)
            await origin.requests(to: "/other", reach: 1)

            async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
            await expectShutDown(other)
            gate.open()
            let data = try await marked.value
            #expect(data.bytes == [1])
            await end
            await expectNothingIsActive(in: loader)
        }
    }

    @Test func oneMarkedCallerFinishesSharedDownloadOnShutdown() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", .init(body: try Samples.file(.png)).held(at: .start, until: gate))
            origin.route("/other", .init(body: [2]).stalled(at: .start))
            let loader = loader()
            let unmarked = loader.imageTask(for: request(origin.url("/a")))
            let marked = loader.dataTask(for: request(origin.url("/a"), finishes: true))
            let other = loader.dataTask(for: request(origin.url("/other")))
            await loader.coordinator.callers(reach: 3)

            async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
            await expectShutDown(other)
            gate.open()
            let (image, data) = try await (unmarked.value, marked.value)
            #expect(image.pixels.size == PixelSize(width: 64, height: 48))
            #expect(data.source == .joined)
            await end
            #expect(origin.counts.requests["/a"] == 1)
        }
    }

    /// The download's last event precedes the end of the shutdown, which comes in the same turn.
    @Test func bodyInSeveralPiecesIsDeliveredBeforeShutdownReturns() async throws {
        let transport = ScriptedTransport()
        let loader = ImageLoader(configuration: .patient, transport: transport, clock: clock)
        let answer = OneShot<ResponseBody>()
        let marked = request("http://example.com/marked", finishes: true)
        let caller = Subscriber(
            marked, try loader.fetchKey(marked), id: loader.coordinator.newSubscriberID(), product: .data(answer))
        loader.coordinator.post(.join(caller))
        var exchanges = transport.exchanges.makeAsyncIterator()
        let exchange = try #require(await exchanges.next())
        exchange.answer()
        let piece = [UInt8](repeating: 7, count: 64 << 10)
        for _ in 0..<64 { #expect(exchange.offer(piece)) }

        async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
        await clock.sleeps(until: .seconds(10))
        exchange.finish()
        await end
        #expect(answer.success?.bytes.count == 64 * piece.count)
    }

    @Test func shutdownWaitsForBodiesThatAreBeingJoined() async {
        let loader = loader()
        loader.coordinator.pendingAnswers.begin()
        async let end: Void = loader.shutdown(gracePeriod: .zero)
        while await loader.coordinator.current({ $0.shutdown?.isFinished == true }) == false { await Task.yield() }
        #expect(await !loader.coordinator.shutdownEnd.isResolved)
        loader.coordinator.pendingAnswers.end()
        await end
    }

    @Test func endOfGracePeriodStopsUnfinishedDownloads() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/data", .init(body: [1, 2]).stalled(at: .body(1)))
            origin.route("/image", .init(body: try Samples.file(.png)).stalled(at: .body(100)))
            let loader = loader()
            let data = loader.dataTask(for: request(origin.url("/data"), finishes: true))
            let image = loader.imageTask(for: request(origin.url("/image"), finishes: true))
            await loader.coordinator.callers(reach: 2)

            async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
            #expect(await clock.nextSleep() == ManualClock.Instant(offset: .seconds(10)))
            clock.advance(by: .seconds(9))
            #expect(await loader.coordinator.activity.callers == 2)
            clock.advance(by: .seconds(1))
            await expectShutDown(data)
            await expectShutDown(image)
            await end
            await expectNothingIsActive(in: loader)
        }
    }

    @Test func shutdownWaitsForStoppedDecodes() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.jpeg, 400, 300)
            origin.route("/*", .init(body: file).stalled(at: .body(file.count / 2)))
            let loader = loader()
            let tasks = (0..<6).map { loader.imageTask(for: request(origin.url("/\($0)"))) }
            let frames = loader.previews(for: request(origin.url("/0")))
            for try await _ in frames { break }
            await loader.shutdown(gracePeriod: .zero)
            await expectNothingIsActive(in: loader)
            for task in tasks { await expectShutDown(task) }
        }
    }

    // MARK: Downloads that are not active at that moment

    @Test func shutdownFinishesMarkedQueuedDownloadsOnly() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/running", .init(body: [1]).held(at: .start, until: gate))
            origin.route("/marked", .init(body: [2]))
            let loader = loader(slots: 1)
            let running = loader.dataTask(for: request(origin.url("/running"), finishes: true))
            let other = loader.dataTask(for: request(origin.url("/other")))
            let marked = loader.dataTask(for: request(origin.url("/marked"), finishes: true))
            await origin.requests(to: "/running", reach: 1)
            await loader.coordinator.callers(reach: 3)

            async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
            await expectShutDown(other)
            gate.open()
            let (first, second) = try await (running.value, marked.value)
            #expect(first.bytes == [1] && second.bytes == [2])
            await end
            #expect(origin.counts.requests["/other"] == nil)
        }
    }

    @Test func shutdownAllowsRetryWithinGracePeriod() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/marked", [.init(status: 503, headerFields: ["Retry-After": "5"]), .init(body: [1])])
            origin.route("/late", .init(status: 503, headerFields: ["Retry-After": "50"]))
            origin.route("/other", .init(status: 503, headerFields: ["Retry-After": "50"]))
            let loader = loader { $0.retry = ExponentialBackoff() }
            let events = loader.coordinator.events()
            let marked = loader.dataTask(for: request(origin.url("/marked"), finishes: true))
            let late = loader.dataTask(for: request(origin.url("/late"), finishes: true))
            let other = loader.dataTask(for: request(origin.url("/other")))
            var backingOff = 0
            for await event in events {
                if case .retrying = event.kind { backingOff += 1 }
                if backingOff == 3 { break }
            }

            async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
            await expectShutDown(other)
            // Not before the grace period has begun.
            await clock.sleeps(until: .seconds(5), .seconds(10), .seconds(50))
            clock.advance(by: .seconds(5))
            let data = try await marked.value
            #expect(data.bytes == [1])
            await clock.sleeps(until: .seconds(10))
            clock.advance(by: .seconds(5))
            await expectShutDown(late)
            await end
            await expectNothingIsActive(in: loader)
        }
    }

    @Test func shutdownLetsSuspendedDownloadsFinish() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/marked", .init(body: [1]))
            let loader = loader()
            await loader.coordinator.suspend()
            let marked = loader.dataTask(for: request(origin.url("/marked"), finishes: true))
            let other = loader.dataTask(for: request(origin.url("/other")))
            await loader.coordinator.callers(reach: 2)

            await loader.shutdown(gracePeriod: .seconds(10))
            let data = try await marked.value
            #expect(data.bytes == [1])
            await expectShutDown(other)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func cancellationDuringGracePeriodIsCancellationError() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: [1]).stalled(at: .start))
            let loader = loader()
            let marked = loader.dataTask(for: request(origin.url("/marked"), finishes: true))
            let other = loader.dataTask(for: request(origin.url("/other")))
            await loader.coordinator.callers(reach: 2)
            async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
            await expectShutDown(other)
            marked.cancel()
            await #expect(throws: CancellationError.self) { try await marked.value }
            await end
        }
    }

    // MARK: After the shutdown

    @Test func shutdownFailsNewRequestsExceptForCachedImages() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            let loader = loader()
            _ = try await loader.image(for: request(origin.url("/a")))
            await loader.shutdown(gracePeriod: .seconds(10))

            let cached = try await loader.image(for: request(origin.url("/a")))
            #expect(cached.source == .imageCache)
            await expectShutDown(loader.dataTask(for: request(origin.url("/a"))))
            await expectShutDown(loader.imageTask(for: request(origin.url("/b"), finishes: true)))
            await #expect(throws: ImageError.self) {
                for try await _ in loader.previews(for: request(origin.url("/b"))) {}
            }
            await #expect(throws: ImageError.self) {
                for try await _ in loader.animationFrames(for: request(origin.url("/a"))) {}
            }
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func requestsFailInGracePeriodEvenIfADownloadIsRunning() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/marked", .init(body: [1]).held(at: .start, until: gate))
            origin.route("/other", .init(body: [1]).stalled(at: .start))
            let loader = loader()
            let marked = loader.dataTask(for: request(origin.url("/marked"), finishes: true))
            let other = loader.dataTask(for: request(origin.url("/other")))
            await loader.coordinator.callers(reach: 2)
            async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
            await expectShutDown(other)
            await expectShutDown(loader.dataTask(for: request(origin.url("/marked"), finishes: true)))
            gate.open()
            _ = try await marked.value
            await end
        }
    }

    @Test func concurrentShutdownsUseTheShortestGracePeriod() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]).stalled(at: .start))
            let loader = loader()
            let task = loader.dataTask(for: request(origin.url("/a"), finishes: true))
            await loader.coordinator.callers(reach: 1)
            async let first: Void = loader.shutdown(gracePeriod: .seconds(100))
            #expect(await clock.nextSleep() == ManualClock.Instant(offset: .seconds(100)))
            async let second: Void = loader.shutdown(gracePeriod: .seconds(10))
            async let third: Void = loader.shutdown(gracePeriod: .seconds(1_000))
            await clock.sleeps(until: .seconds(10))
            clock.advance(by: .seconds(10))
            _ = await (first, second, third)
            await expectShutDown(task)
            await loader.shutdown(gracePeriod: .seconds(Int64.max))
        }
    }

    @Test func cancelingTheShutdownEndsTheGracePeriod() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]).stalled(at: .start))
            let loader = loader()
            let task = loader.dataTask(for: request(origin.url("/a"), finishes: true))
            await loader.coordinator.callers(reach: 1)
            let end = Task { await loader.shutdown(gracePeriod: .seconds(10)) }
            _ = await clock.nextSleep()
            end.cancel()
            await end.value
            await expectShutDown(task)
            await expectNothingIsActive(in: loader)
        }
    }

    @Test func idleLoaderShutsDownAtOnceAndIsReleased() async {
        weak var coordinator: DownloadCoordinator?
        do {
            let loader = loader()
            coordinator = loader.coordinator
            await loader.shutdown(gracePeriod: .seconds(10))
            await loader.shutdown(gracePeriod: .seconds(10))
        }
        while coordinator != nil, !Task.isCancelled { await Task.yield() }
        #expect(coordinator == nil)
    }

    // MARK: Prefetch lists

    @Test(arguments: [false, true])
    func shutdownEndsPrefetchLists(isPaused: Bool) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)).stalled(at: .start))
            let loader = loader()
            let prefetcher = ImagePrefetcher(loader: loader, maximumConcurrentLoads: 2)
            if isPaused { prefetcher.pause() }
            let list = prefetcher.prefetch((0..<1_000_000).lazy.map { request(origin.url("/\($0)")) })
            if !isPaused { await loader.coordinator.callers(reach: 2) }

            await loader.shutdown(gracePeriod: .zero)
            let result = await list.result
            #expect(result.progress.finished == 0 && result.progress.failed == 0)
            let late = await prefetcher.prefetch([request(origin.url("/late"))]).result
            #expect(late.progress.finished == 0 && late.progress.failed == 0)
            #expect(origin.counts.totalRequests <= 2)
        }
    }

    @Test func shutdownFinishesRunningMarkedPrefetches() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/*", .init(body: try Samples.file(.png)).held(at: .start, until: gate))
            origin.route("/other", .init(body: [1]).stalled(at: .start))
            let loader = loader()
            let prefetcher = ImagePrefetcher(loader: loader, maximumConcurrentLoads: 2)
            let list = prefetcher.prefetch((0..<10).map { request(origin.url("/\($0)"), finishes: true) })
            let other = loader.dataTask(for: request(origin.url("/other")))
            await loader.coordinator.callers(reach: 3)
            async let end: Void = loader.shutdown(gracePeriod: .seconds(10))
            await expectShutDown(other)
            gate.open()
            #expect(await list.result.progress.finished == 2)
            await end
        }
    }
}
