import HTTPTransport
import LoopbackOrigin
import Testing

@testable import AsyncWebImage

/// The events for listeners, and the progress for callers.
@Suite(.timeLimit(.minutes(2)))
struct EventTests {
    /// The number of events that a consumer can be behind, by default.
    static let bufferedEvents = 4_096

    private func loader(_ change: (inout DownloadConfiguration) -> Void = { _ in }) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration, clock: ManualClock())
    }

    /// The names of the events up to the end of `count` downloads, in order.
    private func names(_ events: AsyncStream<DownloadEvent>, downloads count: Int = 1) async -> [String] {
        var names: [String] = []
        var ended = 0
        for await event in events {
            names.append(event.kind.name)
            if case .completed = event.kind { ended += 1 }
            if ended == count { break }
        }
        return names
    }

    @Test func downloadReportsEventsInOrder() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1, 2, 3]))
            let loader = loader()
            let events = loader.coordinator.events()
            _ = try await loader.data(for: ImageRequest(origin.url("/a")))
            #expect(
                await names(events) == ["queued", "started 1", "response 200", "progress 3", "completed 3"])
        }
    }

    @Test func eventsNameTheirDownloadAndItsURL() async throws {
        let loader = ImageLoader(configuration: .patient, transport: InstantTransport(body: [1]))
        let events = loader.coordinator.events()
        let urls = ["http://example.com/a", "http://example.com/b"]
        for url in urls { _ = try await loader.data(for: ImageRequest(url)) }
        await loader.shutdown(gracePeriod: .zero)
        var found: [UInt64: Set<String>] = [:]
        for await event in events { found[event.id, default: []].insert(event.url.string) }
        #expect(found == [1: [urls[0]], 2: [urls[1]]])
    }

    @Test func aFailureIsTheLastEvent() async throws {
        try await withLoopbackOrigin { origin in
            let loader = loader()
            let events = loader.coordinator.events()
            _ = try? await loader.data(for: ImageRequest(origin.url("/missing")))
            #expect(await names(events) == ["queued", "started 1", "response 404", "failed: status"])
        }
    }

    @Test func slowListenerLosesOldestEvents() async throws {
        let loader = ImageLoader(configuration: .patient, transport: InstantTransport(body: [1, 2, 3]))
        let slow = loader.coordinator.events(bufferingNewest: 2)
        let patient = loader.coordinator.events()
        _ = try await loader.data(for: ImageRequest("http://example.com/a"))
        await loader.shutdown(gracePeriod: .zero)
        let all = await names(patient)
        #expect(all == ["queued", "started 1", "response 200", "completed 3"])
        #expect(await names(slow) == Array(all.suffix(2)))
    }

    @Test func listenerBuffers4096Events() async throws {
        let loader = ImageLoader(configuration: .patient, transport: InstantTransport(body: [1]))
        let events = loader.coordinator.events()
        for number in 0..<1_100 { _ = try await loader.data(for: ImageRequest("http://example.com/\(number)")) }
        await loader.coordinator.becomesIdle()
        await loader.shutdown(gracePeriod: .zero)
        var count = 0
        for await _ in events { count += 1 }
        #expect(count == Self.bufferedEvents)
    }

    @Test func everyAttemptHasEvents() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", [.init(status: 503), .init(body: [1])])
            let clock = ManualClock()
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.retry = ExponentialBackoff()
            let loader = ImageLoader(configuration: configuration, clock: clock)
            let events = loader.coordinator.events()
            async let data = loader.data(for: ImageRequest(origin.url("/a")))
            _ = await clock.nextSleep()
            clock.advance(by: .seconds(100))
            _ = try await data
            #expect(
                await names(events) == [
                    "queued", "started 1", "response 503", "retrying", "started 2", "response 200", "progress 1",
                    "completed 1",
                ])
        }
    }

    @Test func downloadCanceledInQueueReportsNoStart() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/first", .init(body: [1]).held(at: .start, until: gate))
            let loader = loader { $0.maximumConcurrentDownloads = 1 }
            async let first = loader.data(for: ImageRequest(origin.url("/first")))
            await origin.requests(to: "/first", reach: 1)
            let events = loader.coordinator.events()
            let second = loader.dataTask(for: ImageRequest(origin.url("/second")))
            await loader.coordinator.callers(reach: 2)
            second.cancel()
            #expect(await names(events) == ["queued", "cancelled"])
            gate.open()
            _ = try await first
            #expect(origin.counts.requests["/second"] == nil)
        }
    }

    @Test func noEventsFollowTheEndOfACanceledDownload() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route(
                "/a", .init(body: [UInt8](repeating: 1, count: 1_000_000)).held(at: .body(500_000), until: gate))
            origin.route("/b", .init(body: [1]))
            let loader = loader()
            let events = loader.coordinator.events()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            for await progress in task.progress where progress.received >= 500_000 { break }
            task.cancel()
            // Otherwise the remainder of the body could arrive before the coordinator knows.
            await loader.coordinator.activity { $0.callers == 0 }
            gate.open()
            await loader.coordinator.becomesIdle()
            _ = try await loader.data(for: ImageRequest(origin.url("/b")))
            var ends: [UInt64: String] = [:]
            for await event in events {
                #expect(ends[event.id] == nil || event.kind.name == "completed 1")
                if case .completed = event.kind { ends[event.id] = event.kind.name }
                if case .completed(.success) = event.kind { break }
            }
            #expect(ends == [1: "cancelled", 2: "completed 1"])
        }
    }

    @Test func completeBodySucceedsDespiteLateCancellation() async throws {
        let transport = ScriptedTransport()
        var exchanges = transport.exchanges.makeAsyncIterator()
        let loader = ImageLoader(configuration: .patient, transport: transport)
        let events = loader.coordinator.events()
        let body = [UInt8](repeating: 1, count: 20_000)

        let task = loader.dataTask(for: ImageRequest("http://example.com/a"))
        let exchange = try #require(await exchanges.next())
        exchange.answer(.ok, [.eTag: "\"a\""], body)
        await loader.coordinator.inOneTurn {
            task.cancel()
            exchange.finish()
        }
        #expect(await names(events) == ["queued", "started 1", "response 200", "completed 20000"])

        // Nor is it the beginning of a body that could be continued.
        let again = loader.dataTask(for: ImageRequest("http://example.com/a"))
        let second = try #require(await exchanges.next())
        #expect(second.request.headerFields[.range] == nil)
        second.answer(.ok, [:], body)
        second.finish()
        #expect(try await again.value.bytes == body)
    }

    @Test func sharedDownloadReportsEventsOnce() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", .init(body: [1]).held(at: .start, until: gate))
            let loader = loader()
            let events = loader.coordinator.events()
            async let first = loader.data(for: ImageRequest(origin.url("/a")))
            async let second = loader.data(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.callers(reach: 2)
            gate.open()
            _ = try await (first, second)
            #expect(await names(events).count { $0.hasPrefix("started") } == 1)
        }
    }

    @Test func noEventsAreMadeWithoutListener() async throws {
        let loader = loader()
        #expect(!loader.coordinator.listeners.isObserved)
        var events: AsyncStream<DownloadEvent>? = loader.coordinator.events()
        #expect(loader.coordinator.listeners.isObserved)
        _ = events
        events = nil
        #expect(!loader.coordinator.listeners.isObserved)
    }

    @Test func eventsEndWithTheLoader() async throws {
        var loader: ImageLoader? = ImageLoader(transport: InstantTransport(body: [1]))
        let events = loader?.coordinator.events()
        loader = nil
        for await event in try #require(events) { Issue.record("\(event)") }
    }

    @Test func eventsEndWhenTheShutdownIsOver() async throws {
        let loader = ImageLoader(transport: InstantTransport(body: [1]))
        let events = loader.coordinator.events()
        _ = try await loader.data(for: ImageRequest("http://example.com/a"))
        await loader.shutdown(gracePeriod: .seconds(1))
        var names: [String] = []
        for await event in events { names.append(event.kind.name) }
        #expect(names == ["queued", "started 1", "response 200", "completed 1"])
        for await event in loader.coordinator.events() { Issue.record("\(event)") }
        #expect(!loader.coordinator.listeners.isObserved)
    }

    // MARK: Progress

    @Test func progressStartsAtZeroAndEndsAtTheTotal() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", .init(body: [UInt8](repeating: 1, count: 100_000)).held(at: .start, until: gate))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            var states: [DownloadProgress] = []
            for await progress in task.progress {
                states.append(progress)
                gate.open()
            }
            #expect(states.first == DownloadProgress(received: 0, expected: nil))
            #expect(states.last == DownloadProgress(received: 100_000, expected: 100_000))
            #expect(states.map(\.received) == states.map(\.received).sorted())
            #expect(states.last?.fraction == 1)
        }
    }

    @Test func slowProgressReaderGetsNewestValueOnly() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let body = [UInt8](repeating: 1, count: 100_000)
            origin.route("/a", .init(body: body).paced(bytesPerSecond: 10_000_000).held(at: .start, until: gate))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            let progress = task.progress
            // Both are watched from here on.
            for await _ in task.progress { break }
            gate.open()
            let data = try await task.value
            #expect(data.bytes == body)
            var states: [DownloadProgress] = []
            for await state in progress { states.append(state) }
            #expect(states == [DownloadProgress(received: 100_000, expected: 100_000)])
        }
    }

    @Test func joiningCallerGetsCurrentProgress() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", .init(body: [UInt8](repeating: 1, count: 100_000)).held(at: .body(60_000), until: gate))
            let loader = loader()
            let first = loader.dataTask(for: ImageRequest(origin.url("/a")))
            for await progress in first.progress where progress.received == 60_000 { break }
            let second = loader.dataTask(for: ImageRequest(origin.url("/a")))
            var iterator = second.progress.makeAsyncIterator()
            #expect(await iterator.next() == DownloadProgress(received: 60_000, expected: 100_000))
            gate.open()
        }
    }

    @Test func progressHasSeveralIndependentSequences() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", .init(body: [UInt8](repeating: 1, count: 100_000)).held(at: .start, until: gate))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            var places = (0..<3).map { _ in task.progress.makeAsyncIterator() }
            for place in places.indices { #expect(await places[place].next()?.received == 0) }
            gate.open()
            for place in places.indices {
                var last: DownloadProgress?
                while let progress = await places[place].next() { last = progress }
                #expect(last?.fraction == 1)
            }
        }
    }

    @Test func endedProgressSequenceLeavesOthersRunning() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a", .init(body: [1, 2, 3]).held(at: .start, until: gate))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            var staying = task.progress.makeAsyncIterator()
            for await _ in task.progress { break }
            // Also a stream that is left before any progress.
            _ = task.progress
            await loader.coordinator.watchers(fallTo: 1)
            #expect(!Task.isCancelled)
            gate.open()
            var last: DownloadProgress?
            while let progress = await staying.next() { last = progress }
            #expect(last?.fraction == 1)
        }
    }

    @Test func progressEndsWhenTheCallerLeaves() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]).stalled(at: .start))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            let other = loader.dataTask(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.callers(reach: 2)
            let progress = task.progress
            task.cancel()
            for await _ in progress {}
            other.cancel()
        }
    }

    @Test func completedLoadHasNoProgress() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let loader = loader()
            let task = loader.dataTask(for: ImageRequest(origin.url("/a")))
            _ = try await task.value
            await loader.coordinator.becomesIdle()
            for await progress in task.progress { Issue.record("\(progress)") }
        }
    }
}

extension DownloadEvent.Kind {
    fileprivate var name: String {
        switch self {
        case .queued: return "queued"
        case .started(let attempt): return "started \(attempt)"
        case .response(let head): return "response \(head.status.code)"
        case .progress(let progress): return "progress \(progress.received)"
        case .retrying: return "retrying"
        case .completed(.success(let summary)): return "completed \(summary.byteCount)"
        case .completed(.failure(is CancellationError)): return "cancelled"
        case .completed(.failure(let error)):
            return (error as? ImageError)?.httpStatus == nil ? "failed: error" : "failed: status"
        }
    }
}
