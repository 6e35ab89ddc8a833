import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage

/// Many loads, of which a limited number is active at a time, against a real origin.
@Suite(.timeLimit(.minutes(2)))
struct LoadManyTests {
    private struct ConsumerError: Error {}

    private func loader(retries: Bool = false, clock: any Clock<Duration> = ContinuousClock()) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = 20
        configuration.downloads.maximumConcurrentDownloadsPerHost = 20
        configuration.downloads.maximumConnectionsPerHost = 20
        if retries { configuration.downloads.retry = ConstantBackoff() }
        return ImageLoader(configuration: configuration, clock: clock)
    }

    private func requests(_ range: Range<Int>, from origin: LoopbackOrigin) -> [ImageRequest] {
        range.map { ImageRequest(origin.url("/\($0).png"), maximumSide: 20) }
    }

    // MARK: Active elements

    @Test func slowConsumerLimitsTheNumberOfRequestsAndResults() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)))
            let (loader, requests, consumer) = (loader(), requests(0..<30, from: origin), Consumer())
            let run = Task {
                try await loader.images(for: requests, maximumActive: 3) { await consumer.consume($0, $1) }
            }
            await consumer.started.wait { $0.count == 3 }
            await loader.coordinator.activity { $0.running == 0 && $0.waiting >= 3 }
            #expect(origin.counts.totalRequests == 3 && consumer.started.value.count == 3)
            consumer.gate.update { $0 = true }
            try await run.value
            #expect(consumer.started.value.count == 30 && consumer.peak == 3 && consumer.failures == 0)
            #expect(origin.counts.totalRequests == 30 && origin.counts.maximumRunningRequests <= 3)
        }
    }

    @Test func othersAreLoadedWhileARequestWaitsForItsNextAttempt() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/0.png", [.init(status: 503), .init(body: file)])
            origin.route("/*", .init(body: file))
            let clock = ManualClock()
            let (loader, requests) = (loader(retries: true, clock: clock), requests(0..<10, from: origin))
            let consumer = Consumer(isOpen: true)
            let run = Task {
                try await loader.images(for: requests, maximumActive: 1) { await consumer.consume($0, $1) }
            }
            await consumer.started.wait { $0.count == 9 }
            await loader.coordinator.activity { $0.backingOff == 1 }
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(10))
            try await run.value
            #expect(consumer.started.value.last == origin.url("/0.png") && consumer.peak == 1)
            #expect(consumer.failures == 0)
        }
    }

    @Test func othersAreLoadedWhileARequestWaitsForTheRateOfItsHost() async throws {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.rateLimitPerHost = RateLimit(requestsPerSecond: 1)
        let clock = ManualClock()
        let transport = InstantTransport(body: try Samples.file(.png))
        let loader = ImageLoader(configuration: configuration, transport: transport, clock: clock)
        let urls = ["http://a.example/1", "http://a.example/2", "http://b.example/1", "http://c.example/1"]
        let consumer = Consumer(isOpen: true)
        let run = Task {
            try await loader.images(for: urls.map { ImageRequest($0) }, maximumActive: 1) {
                await consumer.consume($0, $1)
            }
        }
        await consumer.started.wait { $0.count == 3 }
        await loader.coordinator.activity { $0.rateLimited == 1 }
        _ = await clock.nextSleep()
        clock.advance(by: .seconds(1))
        try await run.value
        #expect(
            Set(consumer.started.value) == Set(urls)
                && consumer.started.value.last?.hasPrefix(urls[0].dropLast()) == true)
    }

    @Test func twoRequestsOfOneElementShareItsSlot() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)))
            let loader = loader()
            try await loader.forEach(0..<20, maximumActive: 1) { index, slot in
                var (first, second) = (ImageRequest(origin.url("/a\(index)")), ImageRequest(origin.url("/b\(index)")))
                (first.slot, second.slot) = (slot, slot)
                async let image = loader.image(for: first)
                async let other = loader.data(for: second)
                // The same download as that of the image.
                for try await _ in loader.bytes(for: first) {}
                _ = try await (image, other)
            }
            #expect(origin.counts.maximumRunningRequests <= 3)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func elementsWithTheSameURLShareADownload() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/*", .init(body: try Samples.file(.png)).held(at: .start, until: gate))
            let (loader, consumer) = (loader(), Consumer(isOpen: true))
            let request = ImageRequest(origin.url("/a.png"))
            let run = Task {
                try await loader.images(for: repeatElement(request, count: 20), maximumActive: 2) {
                    await consumer.consume($0, $1)
                }
            }
            await loader.coordinator.callers(reach: 20)
            gate.open()
            try await run.value
            #expect(consumer.started.value.count == 20 && consumer.failures == 0 && origin.counts.totalRequests == 1)
        }
    }

    @Test func groupsOfOneLoaderHaveTheirOwnSlots() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)))
            let (loader, held) = (loader(), Consumer())
            let (all, others) = (requests(0..<20, from: origin), requests(10..<30, from: origin))
            let run = Task { try await loader.images(for: all, maximumActive: 1) { await held.consume($0, $1) } }
            await held.started.wait { $0.count == 1 }
            let consumer = Consumer(isOpen: true)
            try await loader.images(for: others, maximumActive: 1) { await consumer.consume($0, $1) }
            #expect(consumer.started.value.count == 20 && held.started.value.count == 1)
            held.gate.update { $0 = true }
            try await run.value
            #expect(held.started.value.count == 20)
        }
    }

    // MARK: Results without a transfer

    @Test(arguments: [false, true])
    func cachedResultsDoNotWaitForASlot(ofResponses: Bool) async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let response = LoopbackOrigin.Response(
                headerFields: ["Cache-Control": "max-age=86400"], body: try Samples.file(.png))
            origin.route("/*", response)
            origin.route("/slow.png", response.held(at: .start, until: gate))
            var configuration = ImageLoader.Configuration.patient
            if ofResponses { configuration.responseCache = try ResponseCache(.init()) }
            let loader = ImageLoader(configuration: configuration)
            let cached = requests(0..<20, from: origin)
            for request in cached {
                if ofResponses {
                    _ = try await loader.data(for: request)
                } else {
                    _ = try await loader.image(for: request)
                }
            }
            let consumer = Consumer(isOpen: true)
            let requests = [ImageRequest(origin.url("/slow.png"))] + cached
            let run = Task {
                try await loader.images(for: requests, maximumActive: 1) { await consumer.consume($0, $1) }
            }
            await consumer.started.wait { $0.count == 20 }
            gate.open()
            try await run.value
            #expect(consumer.started.value.last == origin.url("/slow.png"))
            #expect(origin.counts.totalRequests == 21 && consumer.failures == 0)
        }
    }

    @Test func slowConsumerLimitsTheNumberOfCachedResults() async throws {
        let loader = ImageLoader(
            configuration: .patient, transport: InstantTransport(body: try Samples.file(.png)))
        let request = ImageRequest("http://a.example/1")
        _ = try await loader.image(for: request)
        let consumer = Consumer()
        let run = Task {
            try await loader.images(for: repeatElement(request, count: 1_000), maximumActive: 2) {
                await consumer.consume($0, $1)
            }
        }
        await consumer.started.wait { $0.count >= 4 }
        await loader.coordinator.becomesIdle()
        consumer.gate.update { $0 = true }
        try await run.value
        #expect(consumer.started.value.count == 1_000 && consumer.peak <= 6)
    }

    @Test func workWithoutADownloadTakesASlot() async throws {
        let (loader, consumer) = (loader(), Consumer(isOpen: true))
        try await loader.forEach(0..<100, maximumActive: 3) { index, slot in
            try await slot.take()
            await consumer.consume("\(index)")
        }
        #expect(consumer.started.value.count == 100 && consumer.peak <= 3)
    }

    @Test func slotOfAProcessedElementIsNotWaitedFor() async throws {
        let (loader, slots) = (loader(), Awaited<[LoadSlot]>([]))
        try await loader.forEach(0..<3, maximumActive: 1) { _, slot in slots.update { $0.append(slot) } }
        for slot in slots.value { try await slot.take() }
    }

    @Test func canceledWaitForASlotThrows() async throws {
        let (loader, holder) = (loader(), Consumer())
        try await loader.forEach(0..<2, maximumActive: 1) { index, slot in
            if index == 1 {
                await holder.started.wait { $0.count == 1 }
                let wait = Task { try await slot.take() }
                wait.cancel()
                await #expect(throws: CancellationError.self) { try await wait.value }
                holder.gate.update { $0 = true }
            } else {
                try await slot.take()
                await holder.consume("\(index)")
            }
        }
    }

    // MARK: Order

    @Test func resultsAreConsumedInTheOrderOfTheRequests() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let file = try Samples.file(.png)
            origin.route("/0.png", .init(body: file).held(at: .start, until: gate))
            origin.route("/7.png", .init(status: 404))
            origin.route("/*", .init(body: file))
            let (loader, requests, consumer) = (loader(), requests(0..<20, from: origin), Consumer(isOpen: true))
            let run = Task {
                try await loader.images(for: requests, maximumActive: 3, inOrder: true) {
                    await consumer.consume($0, $1)
                }
            }
            await origin.requests(to: "/1.png", reach: 1)
            await loader.coordinator.activity { $0.running == 1 }
            #expect(consumer.started.value.isEmpty)
            gate.open()
            try await run.value
            #expect(consumer.started.value == requests.map(\.url) && consumer.peak == 1 && consumer.failures == 1)
        }
    }

    @Test func firstElementIsLoadedAlthoughLaterResultsHaveTheSlots() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/0.png", [.init(status: 503), .init(body: file)])
            origin.route("/*", .init(body: file))
            let clock = ManualClock()
            let (loader, requests) = (loader(retries: true, clock: clock), requests(0..<10, from: origin))
            let consumer = Consumer(isOpen: true)
            let run = Task {
                try await loader.images(for: requests, maximumActive: 1, inOrder: true) {
                    await consumer.consume($0, $1)
                }
            }
            await origin.requests(to: "/1.png", reach: 1)
            await loader.coordinator.activity { $0.backingOff == 1 && $0.running == 0 && $0.callers < 10 }
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(10))
            try await run.value
            #expect(consumer.started.value == requests.map(\.url))
        }
    }

    /// The error is known before the next element has its turn.
    @Test func consumerInOrderIsNotCalledAgainAfterItsError() async throws {
        let loader = ImageLoader(
            configuration: .patient, transport: InstantTransport(body: try Samples.file(.png)))
        for _ in 0..<50 {
            let requests = (0..<10).map { ImageRequest("http://a.example/\($0)") }
            let consumer = Consumer(isOpen: true)
            await #expect(throws: ConsumerError.self) {
                try await loader.images(for: requests, maximumActive: 10, inOrder: true) { request, result in
                    await consumer.consume(request, result)
                    if request.url == requests[1].url { throw ConsumerError() }
                }
            }
            #expect(consumer.started.value == requests[...1].map(\.url))
        }
    }

    // MARK: Errors, cancelation

    @Test(arguments: [false, true])
    func errorOfTheConsumerCancelsTheOthersAndIsThrown(inOrder: Bool) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/0.png", .init(body: file))
            origin.route("/*", .init(body: file).stalled(at: .start))
            let (loader, requests) = (loader(), requests(0..<1_000, from: origin))
            await #expect(throws: ConsumerError.self) {
                try await loader.images(for: requests, maximumActive: 4, inOrder: inOrder) { _, _ in
                    throw ConsumerError()
                }
            }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func errorIsThrownWhileTheSequenceWaitsForItsNextElement() async throws {
        let (elements, continuation) = AsyncStream.makeStream(of: Int.self)
        continuation.yield(1)
        await #expect(throws: ConsumerError.self) {
            try await loader().forEach(elements, maximumActive: 4) { _, _ in throw ConsumerError() }
        }
        continuation.finish()
    }

    @Test func errorOfTheSequenceIsThrown() async throws {
        let (elements, continuation) = AsyncThrowingStream.makeStream(of: Int.self)
        continuation.yield(1)
        continuation.finish(throwing: ConsumerError())
        await #expect(throws: ConsumerError.self) {
            try await loader().forEach(elements, maximumActive: 4) { _, slot in
                try await slot.take()
                await untilCancelled()
            }
        }
    }

    @Test(arguments: [false, true])
    func cancelationEndsAllLoads(inOrder: Bool) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)).stalled(at: .start))
            let (loader, requests) = (loader(), requests(0..<100, from: origin))
            let run = Task { try await loader.images(for: requests, maximumActive: 4, inOrder: inOrder) { _, _ in } }
            await loader.coordinator.activity { $0.running == 4 && $0.waiting >= 4 }
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cancelationEndsAnAsynchronousSequenceThatWaits() async throws {
        let (elements, continuation) = AsyncStream.makeStream(of: Int.self)
        let (loader, started) = (loader(), Tally())
        let run = Task {
            try await loader.forEach(elements, maximumActive: 4) { _, slot in
                try await slot.take()
                started.add()
                await untilCancelled()
            }
        }
        continuation.yield(1)
        await started.reaches(1)
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
    }

    @Test func shutdownAnswersAllRequests() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)).stalled(at: .start))
            let (loader, requests, consumer) = (loader(), requests(0..<50, from: origin), Consumer(isOpen: true))
            let run = Task {
                try await loader.images(for: requests, maximumActive: 4) { await consumer.consume($0, $1) }
            }
            await loader.coordinator.activity { $0.running == 4 && $0.waiting >= 4 }
            await loader.shutdown(gracePeriod: .zero)
            try await run.value
            #expect(consumer.failures == 50)
        }
    }

    // MARK: Reading

    @Test func requestsAreReadOnlyAsTheyCanBecomeActive() async throws {
        let loader = ImageLoader(
            configuration: .patient, transport: InstantTransport(body: try Samples.file(.png)))
        let (read, consumer) = (Tally(), Consumer())
        let run = Task {
            let requests = (0..<1_000_000).lazy.map { index in
                read.add()
                return ImageRequest("http://a.example/\(index)")
            }
            try await loader.images(for: requests, maximumActive: 2) { await consumer.consume($0, $1) }
        }
        await consumer.started.wait { $0.count == 2 }
        await loader.coordinator.activity { $0.waiting >= 2 }
        #expect(read.count <= 10)
        consumer.gate.update { $0 = true }
        await consumer.started.wait { $0.count >= 100 }
        run.cancel()
        await #expect(throws: CancellationError.self) { try await run.value }
        #expect(read.count <= consumer.started.value.count + 10)
    }

    @Test func noMoreElementsAreOpenThanAllowed() async throws {
        let (loader, open, peak) = (loader(), Awaited(0), Awaited(0))
        try await loader.forEach(0..<200, maximumActive: 100, maximumOpen: 3) { _, slot in
            open.update { $0 += 1 }
            peak.update { $0 = max($0, open.value) }
            try await slot.take()
            open.update { $0 -= 1 }
        }
        #expect(peak.value <= 3)
    }

    /// The end of one reader must not use up what has woken it.
    @Test func anotherReaderContinuesAfterTheEndOfTheFirst() async {
        for _ in 0..<200 {
            let group = loader().loadGroup(maximumActive: 1, maximumOpen: 1)
            group.setPaused(true)
            let (first, second) = (LoadReader(), LoadReader())
            await withTaskGroup { tasks in
                tasks.addImmediateTask { await group.enter(first)?.end() }
                tasks.addImmediateTask { await group.enter(second)?.end() }
                group.setPaused(false)
                first.finish(.success(()))
            }
            group.send(.endGroup(group))
        }
    }

    // MARK: Nothing is left

    @Test func loaderIsReleasedAfterItHasLoadedAllElements() async throws {
        weak var coordinator: DownloadCoordinator?
        do {
            let loader = ImageLoader(
                configuration: .patient, transport: InstantTransport(body: try Samples.file(.png)))
            coordinator = loader.coordinator
            let requests = (0..<20).map { ImageRequest("http://a.example/\($0)") }
            try await loader.images(for: requests, maximumActive: 2, inOrder: true) { _, _ in }
            _ = try? await loader.images(for: requests, maximumActive: 2) { _, _ in throw ConsumerError() }
            await loader.coordinator.becomesIdle()
        }
        while coordinator != nil, !Task.isCancelled { await Task.yield() }
        #expect(coordinator == nil)
    }
}

/// A consumer of results that waits until a test lets it continue.
private final class Consumer: Sendable {
    /// The URLs of the results so far.
    let started = Awaited<[String]>([])
    /// Whether results are consumed without waiting.
    let gate: Awaited<Bool>
    private let running = Awaited((now: 0, peak: 0, failures: 0))

    init(isOpen: Bool = false) { gate = Awaited(isOpen) }

    /// The maximum number of results at a time.
    var peak: Int { running.value.peak }
    /// The number of results that are errors.
    var failures: Int { running.value.failures }

    func consume(_ request: ImageRequest, _ result: Result<ImageResponse, any Error>) async {
        if case .failure = result { running.update { $0.failures += 1 } }
        await consume(request.url)
    }

    func consume(_ name: String) async {
        running.update {
            $0.now += 1
            $0.peak = max($0.peak, $0.now)
        }
        started.update { $0.append(name) }
        await gate.wait { $0 }
        running.update { $0.now -= 1 }
    }
}
