import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage

/// The order, the errors, and the end of many loads, against a real origin.
@Suite(.timeLimit(.minutes(2)))
struct LoadManyOrderTests {
    // MARK: Order

    @Test func resultsAreConsumedInTheOrderOfTheRequests() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let file = try Samples.file(.png)
            origin.route("/0.png", .init(body: file).held(at: .start, until: gate))
            origin.route("/7.png", .init(status: 404))
            origin.route("/*", .init(body: file))
            let (loader, requests, consumer) = (
                ImageLoader.forMany(), manyRequests(0..<20, from: origin), ResultConsumer(isOpen: true)
            )
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
            let (loader, requests) = (
                ImageLoader.forMany(retries: true, clock: clock), manyRequests(0..<10, from: origin)
            )
            let consumer = ResultConsumer(isOpen: true)
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
            let consumer = ResultConsumer(isOpen: true)
            await #expect(throws: ResultConsumer.Failure.self) {
                try await loader.images(for: requests, maximumActive: 10, inOrder: true) { request, result in
                    await consumer.consume(request, result)
                    if request.url == requests[1].url { throw ResultConsumer.Failure() }
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
            let (loader, requests) = (ImageLoader.forMany(), manyRequests(0..<1_000, from: origin))
            await #expect(throws: ResultConsumer.Failure.self) {
                try await loader.images(for: requests, maximumActive: 4, inOrder: inOrder) { _, _ in
                    throw ResultConsumer.Failure()
                }
            }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func errorIsThrownWhileTheSequenceWaitsForItsNextElement() async throws {
        let (elements, continuation) = AsyncStream.makeStream(of: Int.self)
        continuation.yield(1)
        await #expect(throws: ResultConsumer.Failure.self) {
            try await ImageLoader.forMany().forEach(from: elements, maximumActive: 4) { _, _ in
                throw ResultConsumer.Failure()
            }
        }
        continuation.finish()
    }

    @Test func errorOfTheSequenceIsThrown() async throws {
        let (elements, continuation) = AsyncThrowingStream.makeStream(of: Int.self)
        continuation.yield(1)
        continuation.finish(throwing: ResultConsumer.Failure())
        await #expect(throws: ResultConsumer.Failure.self) {
            try await ImageLoader.forMany().forEach(from: elements, maximumActive: 4) { _, slot in
                try await slot.take()
                await untilCancelled()
            }
        }
    }

    @Test(arguments: [false, true])
    func cancelationEndsAllLoads(inOrder: Bool) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)).stalled(at: .start))
            let (loader, requests) = (ImageLoader.forMany(), manyRequests(0..<100, from: origin))
            let run = Task { try await loader.images(for: requests, maximumActive: 4, inOrder: inOrder) { _, _ in } }
            await loader.coordinator.activity { $0.running == 4 && $0.waiting >= 4 }
            run.cancel()
            await #expect(throws: CancellationError.self) { try await run.value }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cancelationEndsAnAsynchronousSequenceThatWaits() async throws {
        let (elements, continuation) = AsyncStream.makeStream(of: Int.self)
        let (loader, started) = (ImageLoader.forMany(), Tally())
        let run = Task {
            try await loader.forEach(from: elements, maximumActive: 4) { _, slot in
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
            let (loader, requests, consumer) = (
                ImageLoader.forMany(), manyRequests(0..<50, from: origin), ResultConsumer(isOpen: true)
            )
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
        let (read, consumer) = (Tally(), ResultConsumer())
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
        let (loader, open, peak) = (ImageLoader.forMany(), Awaited(0), Awaited(0))
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
            let group = ImageLoader.forMany().loadGroup(maximumActive: 1, maximumOpen: 1)
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
            _ = try? await loader.images(for: requests, maximumActive: 2) { _, _ in throw ResultConsumer.Failure() }
            await loader.coordinator.becomesIdle()
        }
        while coordinator != nil, !Task.isCancelled { await Task.yield() }
        #expect(coordinator == nil)
    }
}
