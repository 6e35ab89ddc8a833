import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage

/// The active elements of many loads, and results without a transfer, against a real origin.
@Suite(.timeLimit(.minutes(2)))
struct LoadManyTests {
    // MARK: Active elements

    @Test func slowConsumerLimitsTheNumberOfRequestsAndResults() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: try Samples.file(.png)))
            let (loader, requests, consumer) = (
                ImageLoader.forMany(), manyRequests(0..<30, from: origin), ResultConsumer()
            )
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
            let (loader, requests) = (
                ImageLoader.forMany(retries: true, clock: clock), manyRequests(0..<10, from: origin)
            )
            let consumer = ResultConsumer(isOpen: true)
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
        let consumer = ResultConsumer(isOpen: true)
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
            let loader = ImageLoader.forMany()
            try await loader.forEach(0..<20, maximumActive: 1) { index, slot in
                var (first, second) = (ImageRequest(origin.url("/a\(index)")), ImageRequest(origin.url("/b\(index)")))
                (first.slot, second.slot) = (slot, slot)
                async let image = loader.image(for: first)
                async let other = loader.data(for: second)
                // The same download as that of the image.
                for try await _ in try await loader.bytes(for: first) {}
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
            let (loader, consumer) = (ImageLoader.forMany(), ResultConsumer(isOpen: true))
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
            let (loader, held) = (ImageLoader.forMany(), ResultConsumer())
            let (all, others) = (manyRequests(0..<20, from: origin), manyRequests(10..<30, from: origin))
            let run = Task { try await loader.images(for: all, maximumActive: 1) { await held.consume($0, $1) } }
            await held.started.wait { $0.count == 1 }
            let consumer = ResultConsumer(isOpen: true)
            try await loader.images(for: others, maximumActive: 1) { await consumer.consume($0, $1) }
            #expect(consumer.started.value.count == 20 && held.started.value.count == 1)
            held.gate.update { $0 = true }
            try await run.value
            #expect(held.started.value.count == 20)
        }
    }

    @Test func anyNumberOfElementsCanBeActiveWithoutALimit() async throws {
        let count = Awaited(0)
        try await ImageLoader.forMany().forEach(0..<10, maximumActive: .max, maximumOpen: .max) { _, _ in
            count.update { $0 += 1 }
        }
        #expect(count.value == 10)
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
            let cached = manyRequests(0..<20, from: origin)
            for request in cached {
                if ofResponses {
                    _ = try await loader.data(for: request)
                } else {
                    _ = try await loader.image(for: request)
                }
            }
            let consumer = ResultConsumer(isOpen: true)
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
        let consumer = ResultConsumer()
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
        let (loader, consumer) = (ImageLoader.forMany(), ResultConsumer(isOpen: true))
        try await loader.forEach(0..<100, maximumActive: 3) { index, slot in
            try await slot.take()
            await consumer.consume("\(index)")
        }
        #expect(consumer.started.value.count == 100 && consumer.peak <= 3)
    }

    @Test func slotOfAProcessedElementIsNotWaitedFor() async throws {
        let (loader, slots) = (ImageLoader.forMany(), Awaited<[LoadSlot]>([]))
        try await loader.forEach(0..<3, maximumActive: 1) { _, slot in slots.update { $0.append(slot) } }
        for slot in slots.value { try await slot.take() }
    }

    @Test func canceledWaitForASlotThrows() async throws {
        let (loader, holder) = (ImageLoader.forMany(), ResultConsumer())
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
}
