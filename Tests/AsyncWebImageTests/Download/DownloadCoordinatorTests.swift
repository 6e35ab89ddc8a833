import AsyncWebImage
import LoopbackOrigin
import Testing

/// Sharing, canceling and order, against a real origin.
@Suite(.timeLimit(.minutes(5)))
struct DownloadCoordinatorTests {
    private func loader(slots: Int = 6, _ order: ExecutionOrder = .fifo, cache: Int = 0) -> ImageLoader {
        var configuration = ImageLoader.Configuration.patient
        configuration.downloads.maximumConcurrentDownloads = slots
        configuration.downloads.executionOrder = order
        configuration.memoryCacheLimit = cache
        return ImageLoader(configuration: configuration)
    }

    // MARK: Sharing

    @Test func twoSizesOfOneImageMakeOneRequestAndTwoDecodes() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.png", .init(body: try Samples.file(.png, 300, 200)).held(at: .body(50), until: gate))
            let loader = loader()
            async let large = loader.image(for: ImageRequest(origin.url("/a.png")))
            async let small = loader.image(for: ImageRequest(origin.url("/a.png"), maximumSide: 30))
            async let data = loader.data(for: ImageRequest(origin.url("/a.png")))
            await loader.coordinator.callers(reach: 3)
            gate.open()

            let answers = try await (large, small, data)
            #expect(answers.0.pixels.size == PixelSize(width: 300, height: 200))
            #expect(answers.1.pixels.size == PixelSize(width: 30, height: 20))
            #expect(answers.2.bytes == (try Samples.file(.png, 300, 200)))
            #expect(origin.counts.requests["/a.png"] == 1)
        }
    }

    @Test func differentHeaderFieldsAreNotShared() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a") { .init(body: Array(($0.headerFields["Authorization"] ?? "none").utf8)) }
            let loader = loader()
            let url = origin.url("/a")
            async let first = loader.data(for: ImageRequest(url, headerFields: [.authorization: "Bearer one"]))
            async let second = loader.data(for: ImageRequest(url, headerFields: [.authorization: "Bearer two"]))

            let answers = try await (first.bytes, second.bytes)
            #expect(answers.0 == Array("Bearer one".utf8))
            #expect(answers.1 == Array("Bearer two".utf8))
        }
    }

    @Test func differentCredentialsAreNotShared() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a") { .init(body: Array(($0.headerFields["Authorization"] ?? "none").utf8)) }
            let loader = loader()
            let url = origin.url("/a")
            async let first = loader.data(for: ImageRequest(url, credential: .bearer("one")))
            async let second = loader.data(for: ImageRequest(url, credential: .basic(user: "me", password: "secret")))
            async let third = loader.data(for: ImageRequest(url))

            let answers = try await (first.bytes, second.bytes, third.bytes)
            #expect(answers.0 == Array("Bearer one".utf8))
            #expect(answers.1 == Array("Basic bWU6c2VjcmV0".utf8))
            #expect(answers.2 == Array("none".utf8))
        }
    }

    @Test func joinersAroundTheMomentOfCompletionAllGetAnAnswer() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.jpeg)
            origin.route("/a.jpg", .init(body: file))
            let loader = loader()
            let expected = try StreamingDecoder.decode(file.span).pixels
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<1_000 {
                    group.addTask {
                        for _ in 0..<(index % 50) { await Task.yield() }
                        if index % 2 == 0 {
                            return try await loader.image(for: ImageRequest(origin.url("/a.jpg"))).pixels == expected
                        }
                        return try await loader.data(for: ImageRequest(origin.url("/a.jpg"))).bytes == file
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func finishedImagesComeFromTheMemoryCache() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)))
            let loader = loader(cache: 1 << 20)
            let first = try await loader.image(for: ImageRequest(origin.url("/a.jpg")))
            let second = try await loader.image(for: ImageRequest(origin.url("/a.jpg")))

            #expect(second.source == .memory && second.pixels == first.pixels)
            #expect(origin.counts.requests["/a.jpg"] == 1)
        }
    }

    @Test func joinerGetsTheLastPreviewAtOnce() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 400, 300)
            let gate = Gate()
            origin.route("/a.png", .init(body: file).held(at: .body(file.count / 2), until: gate))
            let loader = loader()
            let request = ImageRequest(origin.url("/a.png"))
            var first = loader.frames(for: request).makeAsyncIterator()
            let shown = try #require(try await first.next())

            var second = loader.frames(for: request).makeAsyncIterator()
            let replayed = try #require(try await second.next())

            #expect(!replayed.isFinal && replayed.completeRows >= shown.completeRows)
            gate.open()
            while let frame = try await second.next() { #expect(frame.completeRows >= replayed.completeRows) }
            #expect(origin.counts.requests["/a.png"] == 1)
        }
    }

    @TaskLocal private static var caller = "nobody"

    /// Notes as whom it is asked.
    private struct Witness: Transport, RequestModifier {
        typealias Testimony = (priority: TaskPriority, caller: String)
        let testimonies: AsyncStream<Testimony>.Continuation

        func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
            testimonies.yield((Task.currentPriority, caller))
            return InstantTransport(body: [1]).start(request, receiver: receiver)
        }

        func modify(_ request: TransportRequest) async throws -> TransportRequest {
            testimonies.yield((Task.currentPriority, caller))
            return request
        }
    }

    @Test(arguments: [true, false]) func aDownloadIsNoneOfItsFirstCallersTasks(hasModifier: Bool) async throws {
        let (testimonies, continuation) = AsyncStream.makeStream(of: Witness.Testimony.self)
        let witness = Witness(testimonies: continuation)
        var configuration = ImageLoader.Configuration.patient
        if hasModifier { configuration.downloads.requestModifier = witness }
        let loader = ImageLoader(configuration: configuration, transport: witness)
        Task(priority: .background) {
            Self.$caller.withValue("the first") { _ = loader.dataTask(for: ImageRequest("http://example.com/a")) }
        }
        var count = 0
        for await testimony in testimonies {
            #expect(testimony.priority >= .medium && testimony.caller == "nobody")
            count += 1
            if count == (hasModifier ? 2 : 1) { break }
        }
    }

    // MARK: Canceling

    @Test func cancellingOneOfManyLeavesTheOthersAlone() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).held(at: .body(100), until: gate))
            let loader = loader()
            let tasks = (0..<20).map { _ in loader.task(for: ImageRequest(origin.url("/a.jpg"))) }
            await loader.coordinator.callers(reach: 20)

            tasks[0].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[0].value }
            await loader.coordinator.activity { $0.callers == 19 }
            gate.open()

            for task in tasks.dropFirst() { _ = try await task.value }
            #expect(origin.counts.requests["/a.jpg"] == 1)
        }
    }

    @Test func cancellingTheSwiftTaskCancelsOnlyThatCaller() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).held(at: .start, until: gate))
            let loader = loader()
            let request = ImageRequest(origin.url("/a.jpg"))
            let cancelled = Task { try await loader.image(for: request) }
            let kept = Task { try await loader.image(for: request) }
            await loader.coordinator.callers(reach: 2)

            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            await loader.coordinator.activity { $0.callers == 1 }
            #expect(!Task.isCancelled)
            gate.open()
            _ = try await kept.value
        }
    }

    enum Wish: CaseIterable, Sendable {
        case image, data, info, animation, frames, animationFrames

        func load(_ request: ImageRequest, _ loader: ImageLoader) async throws {
            switch self {
            case .image: _ = try await loader.image(for: request)
            case .data: _ = try await loader.data(for: request)
            case .info: _ = try await loader.info(for: request)
            case .animation: _ = try await loader.animation(for: request)
            case .frames: for try await _ in loader.frames(for: request) {}
            case .animationFrames: for try await _ in loader.animationFrames(for: request) {}
            }
        }
    }

    @Test(arguments: Wish.allCases)
    func cancellingTheOnlySwiftTaskThatWaitsStopsTheDownload(_ wish: Wish) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).stalled(at: .start))
            let loader = loader()
            let task = Task { try await wish.load(ImageRequest(origin.url("/a.jpg")), loader) }
            await origin.requests(to: "/a.jpg", reach: 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
            await origin.openConnections(become: 0)
            #expect(!Task.isCancelled)
        }
    }

    @Test func lastOneOutStopsTheTransfer() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).stalled(at: .body(100)))
            let loader = loader()
            let tasks = (0..<10).map { _ in loader.task(for: ImageRequest(origin.url("/a.jpg"))) }
            await origin.requests(to: "/a.jpg", reach: 1)
            await loader.coordinator.callers(reach: 10)

            for task in tasks { task.cancel() }

            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cancelBeforeStartSendsNothing() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/busy", .init(body: [1]).stalled(at: .start))
            origin.route("/a", .init(body: [1]))
            let loader = loader(slots: 1)
            let busy = loader.task(for: ImageRequest(origin.url("/busy")))
            await origin.requests(to: "/busy", reach: 1)
            let waiting = loader.task(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.callers(reach: 2)

            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            await loader.coordinator.activity { $0.waiting == 0 }
            busy.cancel()
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.requests["/a"] == nil)
        }
    }

    @Test func taskThatIsCancelledAlreadyStartsNothing() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let loader = loader()
            let gate = Gate()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await loader.data(for: ImageRequest(origin.url("/a")))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            gate.open()
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 0)
        }
    }

    @Test func cancelledDownloadCanBeAskedForAgain() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.jpeg)
            origin.route("/a.jpg", [.init(body: file).stalled(at: .body(100)), .init(body: file)])
            let loader = loader()
            let first = loader.task(for: ImageRequest(origin.url("/a.jpg")))
            await origin.requests(to: "/a.jpg", reach: 1)

            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            await loader.coordinator.becomesIdle()

            let again = try await loader.data(for: ImageRequest(origin.url("/a.jpg")))
            #expect(again.bytes == file)
            #expect(origin.counts.requests["/a.jpg"] == 2)
        }
    }

    @Test func askingAgainInTheSameMomentIsAnswered() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).held(at: .body(100), until: gate))
            let loader = loader()
            for _ in 0..<50 {
                let first = loader.task(for: ImageRequest(origin.url("/a.jpg")))
                first.cancel()
                await #expect(throws: CancellationError.self) { try await first.value }
            }
            let last = loader.task(for: ImageRequest(origin.url("/a.jpg")))
            gate.open()

            // Whether it joined a download that was about to stop or started its own, it gets the image.
            _ = try await last.value
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func endingAFrameLoopEarlyLeavesTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 400, 300)
            origin.route("/a.png", .init(body: file).stalled(at: .body(file.count / 2)))
            let loader = loader()

            for try await _ in loader.frames(for: ImageRequest(origin.url("/a.png"))) { break }

            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
        }
    }

    // MARK: Order

    @Test(arguments: [(ExecutionOrder.fifo, Array(1...14)), (.lifo, [1] + (2...14).reversed())])
    func oneSlotRunsInOrder(_ order: ExecutionOrder, expected: [Int]) async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            for index in 1...14 { origin.route("/\(index)", .init(body: [1]).held(at: .start, until: gate)) }
            let loader = loader(slots: 1, order)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 1...14 {
                    group.addTask { _ = try await loader.data(for: ImageRequest(origin.url("/\(index)"))) }
                    await loader.coordinator.callers(reach: index)
                }
                gate.open()
                try await group.waitForAll()
            }
            #expect(origin.recordedRequests.map(\.path) == expected.map { "/\($0)" })
        }
    }

    @Test func highPriorityOvertakesAndAJoinerRaisesIt() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            for path in ["/busy", "/low", "/normal", "/high", "/raised"] {
                origin.route(path, .init(body: [1]).held(at: .start, until: gate))
            }
            let loader = loader(slots: 1)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let wishes: [(String, DownloadPriority)] = [
                    ("/busy", .normal), ("/raised", .low), ("/low", .low), ("/normal", .normal), ("/high", .high),
                    ("/raised", .high),
                ]
                for (index, (path, priority)) in wishes.enumerated() {
                    group.addTask {
                        _ = try await loader.data(for: ImageRequest(origin.url(path), priority: priority))
                    }
                    await loader.coordinator.callers(reach: index + 1)
                }
                gate.open()
                try await group.waitForAll()
            }
            #expect(origin.recordedRequests.map(\.path) == ["/busy", "/raised", "/high", "/normal", "/low"])
        }
    }

    @Test func priorityFallsWhenTheHighestCallerLeaves() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            for path in ["/busy", "/shared", "/other"] {
                origin.route(path, .init(body: [1]).held(at: .start, until: gate))
            }
            let loader = loader(slots: 1)
            var tasks: [LoadTask<ImageData>] = []
            let wishes: [(String, DownloadPriority)] = [
                ("/busy", .normal), ("/shared", .low), ("/shared", .high), ("/other", .normal),
            ]
            for (index, (path, priority)) in wishes.enumerated() {
                tasks.append(loader.dataTask(for: ImageRequest(origin.url(path), priority: priority)))
                await loader.coordinator.callers(reach: index + 1)
            }
            #expect(await loader.coordinator.activity.waitingByPriority == [.high: 1, .normal: 1])
            tasks[2].cancel()
            #expect(await loader.coordinator.activity.waitingByPriority == [.low: 1, .normal: 1])
            gate.open()
            for index in [0, 1, 3] { _ = try await tasks[index].value }
            #expect(origin.recordedRequests.map(\.path) == ["/busy", "/other", "/shared"])
        }
    }

    @Test func taskPriorityCanBeChangedWhileItWaits() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            let file = try Samples.file(.png)
            for path in ["/busy", "/a", "/b"] { origin.route(path, .init(body: file).held(at: .start, until: gate)) }
            let loader = loader(slots: 1)
            var tasks: [ImageTask] = []
            for (index, path) in ["/busy", "/a", "/b"].enumerated() {
                tasks.append(loader.task(for: ImageRequest(origin.url(path))))
                await loader.coordinator.callers(reach: index + 1)
            }
            tasks[2].priority = .high
            await Task { await loader.coordinator.callers(reach: 3) }.value
            gate.open()
            for task in tasks { _ = try await task.value }
            #expect(tasks[2].priority == .high)
            #expect(origin.recordedRequests.map(\.path) == ["/busy", "/b", "/a"])
        }
    }

    @Test func neverMoreDownloadsThanSlots() async throws {
        try await withLoopbackOrigin { origin in
            for index in 0..<40 { origin.route("/\(index)", .init(body: [UInt8](repeating: 1, count: 5_000))) }
            let loader = loader(slots: 3)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    group.addTask { _ = try await loader.data(for: ImageRequest(origin.url("/\(index)"))) }
                }
                try await group.waitForAll()
            }
            #expect(origin.counts.maximumRunningRequests <= 3)
            #expect(origin.counts.totalRequests == 40)
        }
    }

    @Test func transportThatAnswersAtOnceServesTensOfThousandsInLine() async throws {
        let loader = ImageLoader(transport: InstantTransport(body: [1, 2, 3]))
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for index in 0..<20_000 {
                group.addTask { try await loader.data(for: ImageRequest("http://host/\(index)")).bytes }
            }
            for try await bytes in group { #expect(bytes == [1, 2, 3]) }
        }
        await loader.coordinator.becomesIdle()
    }
}
