import AsyncWebImage
import LoopbackOrigin
import Testing

/// Changes while downloads are active, against a real origin.
@Suite(.timeLimit(.minutes(2)))
struct DownloadCoordinatorControlTests {
    private func loader(slots: Int = 1, _ change: (inout DownloadConfiguration) -> Void = { _ in }) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = slots
        change(&configuration.downloads)
        return ImageLoader(configuration: configuration)
    }

    private func start(
        _ paths: some Sequence<String>, from origin: LoopbackOrigin, with loader: ImageLoader
    ) -> [LoadTask<ResponseBody>] {
        paths.map { loader.dataTask(for: ImageRequest(origin.url($0))) }
    }

    private func expect(_ task: LoadTask<ResponseBody>, gives bytes: [UInt8]) async throws {
        let data = try await task.value
        #expect(data.bytes == bytes)
    }

    // MARK: Suspending

    @Test func suspendedDownloadsWaitWhileRunningOnesFinish() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/running", .init(body: [1]).held(at: .start, until: gate))
            origin.route("/waiting", .init(body: [2]))
            let loader = loader(slots: 6)
            let running = start(["/running"], from: origin, with: loader)
            await origin.requests(to: "/running", reach: 1)
            await loader.coordinator.suspend()
            let waiting = start(["/waiting"], from: origin, with: loader)
            gate.open()

            try await expect(running[0], gives: [1])
            await loader.coordinator.activity { $0.running == 0 }
            #expect(await loader.coordinator.activity.waiting == 1)
            #expect(origin.counts.totalRequests == 1)

            await loader.coordinator.resume()
            try await expect(waiting[0], gives: [2])
        }
    }

    @Test func queuedDownloadCanBeCanceledWhileSuspended() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let loader = loader()
            await loader.coordinator.suspend()
            let tasks = start(["/a", "/a", "/b"], from: origin, with: loader)
            for task in tasks { task.cancel() }
            await loader.coordinator.becomesIdle()
            await loader.coordinator.resume()
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 0)
        }
    }

    // MARK: Canceling all

    @Test func cancelAllFailsEveryCallerOnceAndLeavesNoActivity() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 400, 300)
            origin.route("/body", .init(body: file).stalled(at: .body(file.count / 2)))
            origin.route("/waiting", .init(body: file))
            let loader = loader()
            let frames = loader.previews(for: ImageRequest(origin.url("/body")))
            var iterator = frames.makeAsyncIterator()
            _ = try await iterator.next()
            await withThrowingTaskGroup(of: Void.self) { group in
                for path in ["/body", "/waiting"] {
                    let request = ImageRequest(origin.url(path))
                    group.addTask { _ = try await loader.image(for: request) }
                    group.addTask { _ = try await loader.data(for: request) }
                    group.addTask { _ = try await loader.info(for: ImageRequest(request.url + "?info")) }
                    group.addTask { _ = try await loader.animation(for: request) }
                    group.addTask { _ = try await loader.imageTask(for: request).value }
                }
                await loader.coordinator.callers(reach: 11)

                await loader.coordinator.cancelAll()

                var ends = 0
                while let end = await group.nextResult() {
                    #expect(throws: CancellationError.self) { try end.get() }
                    ends += 1
                }
                #expect(ends == 10)
            }
            await #expect(throws: CancellationError.self) { while try await iterator.next() != nil {} }
            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    @Test func requestAfterCancelAllIsServed() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", [.init(body: [1]).stalled(at: .start), .init(body: [2])])
            let loader = loader()
            let cancelled = start(["/a"], from: origin, with: loader)
            await origin.requests(to: "/a", reach: 1)
            await loader.coordinator.cancelAll()
            let again = start(["/a"], from: origin, with: loader)

            await #expect(throws: CancellationError.self) { try await cancelled[0].value }
            try await expect(again[0], gives: [2])
            await loader.coordinator.becomesIdle()
        }
    }

    // MARK: Caps and order

    @Test func raisedConcurrencyAppliesAtOnceAndLoweredAsDownloadsEnd() async throws {
        try await withLoopbackOrigin { origin in
            let gates = (0..<6).map { _ in Gate() }
            for (index, gate) in gates.enumerated() {
                origin.route("/\(index)", .init(body: [1]).held(at: .start, until: gate))
            }
            let loader = loader()
            let tasks = start((0..<6).map { "/\($0)" }, from: origin, with: loader)
            await loader.coordinator.activity { $0.running == 1 && $0.waiting == 5 }
            await loader.coordinator.configure {
                $0.maximumConcurrentDownloads = 4
                $0.maximumConcurrentDownloadsPerHost = 3
            }
            #expect(await loader.coordinator.activity.running == 3)
            await loader.coordinator.configure { $0.maximumConcurrentDownloadsPerHost = 4 }
            #expect(await loader.coordinator.activity.running == 4)

            await loader.coordinator.configure { $0.maximumConcurrentDownloads = 1 }
            for index in 0..<3 {
                gates[index].open()
                _ = try await tasks[index].value
                await loader.coordinator.activity { $0.running <= 3 - index }
            }
            #expect(await loader.coordinator.activity.waiting == 2)
            for gate in gates { gate.open() }
            for task in tasks { _ = try await task.value }
            #expect(origin.counts.maximumRunningRequests <= 4)
        }
    }

    @Test func executionOrderCanChangeWhileDownloadsWait() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/*", .init(body: [1]).held(at: .start, until: gate))
            let loader = loader()
            let tasks = start((1...5).map { "/\($0)" }, from: origin, with: loader)
            await loader.coordinator.callers(reach: 5)
            await loader.coordinator.configure { $0.executionOrder = .lifo }
            gate.open()
            for task in tasks { _ = try await task.value }
            #expect(origin.recordedRequests.map(\.path) == ["/1", "/5", "/4", "/3", "/2"])
        }
    }

    @Test func lowPriorityDownloadsDoNotDelayLaterOnes() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/low/*", .init(body: [1]).stalled(at: .start))
            origin.route("/normal", .init(body: [2]))
            let loader = loader(slots: 4)
            let low = (0..<20).map {
                loader.dataTask(for: ImageRequest(origin.url("/low/\($0)"), priority: .low))
            }
            await loader.coordinator.activity { $0.running == 2 && $0.waitingByPriority == [.low: 18] }

            let data = try await loader.data(for: ImageRequest(origin.url("/normal")))
            #expect(data.bytes == [2])
            for task in low { task.cancel() }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func raisingRunningLowPriorityDownloadStartsTheNextOne() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: [1]).stalled(at: .start))
            let loader = loader(slots: 2)
            let low = (0..<3).map {
                loader.dataTask(for: ImageRequest(origin.url("/\($0)"), priority: .veryLow))
            }
            await loader.coordinator.activity { $0.running == 1 && $0.waiting == 2 }
            low[0].priority = .normal
            await loader.coordinator.activity { $0.running == 2 && $0.waiting == 1 }
            for task in low { task.cancel() }
        }
    }

    // MARK: Rate

    @Test func requestsToOneHostKeepTheRateLimit() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*", .init(body: [1]))
            let clock = ManualClock()
            var configuration = ImageLoader.Configuration.patient
            configuration.downloads.rateLimitPerHost = RateLimit(requestsPerSecond: 2, burst: 2)
            let loader = ImageLoader(configuration: configuration, clock: clock)
            let tasks = start((0..<5).map { "/\($0)" }, from: origin, with: loader)
            for second in 1...3 {
                #expect(await clock.nextSleep()?.offset == .milliseconds(500 * second))
                await loader.coordinator.activity { $0.running == 0 }
                #expect(origin.counts.totalRequests == second + 1)
                clock.advance(by: .milliseconds(500))
            }
            for task in tasks { _ = try await task.value }
        }
    }

    // MARK: Header fields

    @Test func headerFieldsMayChangeForLaterRequests() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/*") { .init(body: Array(($0.headerFields["X-Tenant"] ?? "none").utf8)) }
            let loader = loader()
            let name = try #require(HTTPField.Name("X-Tenant"))
            func expectAnswer(_ path: String, _ expected: String) async throws {
                let data = try await loader.data(for: ImageRequest(origin.url(path)))
                #expect(String(decoding: data.bytes, as: UTF8.self) == expected)
            }
            try await expectAnswer("/1", "none")
            await loader.coordinator.configure { $0.headerFields[name] = "one" }
            try await expectAnswer("/2", "one")
            await loader.coordinator.configure { $0.headerFields[name] = "two" }
            try await expectAnswer("/3", "two")
            await loader.coordinator.configure { $0.headerFields[name] = nil }
            try await expectAnswer("/4", "none")
        }
    }

    @Test func downloadThatWasSentWithOtherHeaderFieldsIsNotShared() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a") {
                .init(body: Array(($0.headerFields["Authorization"] ?? "none").utf8)).held(at: .start, until: gate)
            }
            let loader = loader(slots: 2)
            let before = start(["/a"], from: origin, with: loader)
            await origin.requests(to: "/a", reach: 1)
            await loader.coordinator.configure { $0.headerFields[.authorization] = "Bearer new" }
            let after = start(["/a"], from: origin, with: loader)
            await loader.coordinator.callers(reach: 2)
            gate.open()
            try await expect(before[0], gives: Array("none".utf8))
            try await expect(after[0], gives: Array("Bearer new".utf8))
            #expect(origin.counts.totalRequests == 2)
        }
    }

    // MARK: Activity and memory

    @Test func activityCountsRunningAndWaitingDownloadsAndBytes() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let body = [UInt8](repeating: 1, count: 5_000)
            origin.route("/*", .init(body: body).held(at: .body(3_000), until: gate))
            let loader = loader()
            var tasks = start(["/busy"], from: origin, with: loader)
            await origin.requests(to: "/busy", reach: 1)
            let requests: [(String, DownloadPriority)] = [
                ("/1", .veryLow), ("/2", .high), ("/3", .high), ("/3", .normal), ("/busy", .low),
            ]
            for (path, priority) in requests {
                tasks.append(loader.dataTask(for: ImageRequest(origin.url(path), priority: priority)))
            }
            await loader.coordinator.activity { $0.bytesInFlight == 3_000 }
            let activity = await loader.coordinator.activity
            #expect(activity.running == 1 && activity.waiting == 3 && activity.callers == 6)
            #expect(activity.waitingByPriority == [.veryLow: 1, .high: 2])
            gate.open()
            for task in tasks { _ = try await task.value }
            await loader.coordinator.becomesIdle()
        }
    }

    /// Bodies that are arriving count as well as those that are complete.
    @Test func noDownloadsStartBeyondTheLimitOfBytesInFlight() async throws {
        try await withLoopbackOrigin { origin in
            let body = [UInt8](repeating: 1, count: 80_000)
            for index in 0..<3 { origin.route("/\(index)", .init(body: body).stalled(at: .body(60_000))) }
            origin.route("/3", .init(body: body))
            let loader = loader(slots: 6) { $0.maximumBytesInFlight = 100_000 }
            var tasks: [LoadTask<ResponseBody>] = []
            for index in 0..<2 {
                tasks += start(["/\(index)"], from: origin, with: loader)
                await loader.coordinator.activity { $0.bytesInFlight == 60_000 * (index + 1) }
            }
            tasks += start(["/3"], from: origin, with: loader)
            await loader.coordinator.activity { $0.running == 2 && $0.waiting == 1 }
            tasks[0].cancel()
            try await expect(tasks[2], gives: body)
            tasks[1].cancel()
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func raisedLimitOfBytesInFlightStartsDownloads() async throws {
        try await withLoopbackOrigin { origin in
            let body = [UInt8](repeating: 1, count: 5_000)
            origin.route("/held", .init(body: body).stalled(at: .body(3_000)))
            origin.route("/a", .init(body: body))
            let loader = loader(slots: 6) { $0.maximumBytesInFlight = 1_000 }
            let held = start(["/held"], from: origin, with: loader)
            await loader.coordinator.activity { $0.bytesInFlight == 3_000 }
            let waiting = start(["/a"], from: origin, with: loader)
            await loader.coordinator.activity { $0.running == 1 && $0.waiting == 1 }
            await loader.coordinator.configure { $0.maximumBytesInFlight = 10_000 }
            try await expect(waiting[0], gives: body)
            held[0].cancel()
        }
    }

    @Test func bodiesAboveTheLimitOfBytesInFlightAllArrive() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 200, 100)
            origin.route("/*", .init(body: file))
            let loader = loader(slots: 6) { $0.maximumBytesInFlight = 0 }
            try await withThrowingTaskGroup(of: PixelSize.self) { group in
                for index in 0..<20 {
                    group.addTask { try await loader.image(for: ImageRequest(origin.url("/\(index)"))).pixels.size }
                }
                for try await size in group { #expect(size == PixelSize(width: 200, height: 100)) }
            }
            await loader.coordinator.becomesIdle()
        }
    }
}
