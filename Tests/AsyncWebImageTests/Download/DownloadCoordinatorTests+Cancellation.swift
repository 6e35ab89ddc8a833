import AsyncWebImage
import LoopbackOrigin
import Testing

// Callers cancel.
extension DownloadCoordinatorTests {
    @Test func cancelingOneOfManyCallersDoesNotAffectTheOthers() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).held(at: .body(100), until: gate))
            let loader = loader()
            let tasks = (0..<20).map { _ in loader.imageTask(for: ImageRequest(origin.url("/a.jpg"))) }
            await loader.coordinator.callers(reach: 20)

            tasks[0].cancel()
            await #expect(throws: CancellationError.self) { try await tasks[0].value }
            await loader.coordinator.activity { $0.callers == 19 }
            gate.open()

            for task in tasks.dropFirst() { _ = try await task.value }
            #expect(origin.counts.requests["/a.jpg"] == 1)
        }
    }

    @Test func cancelingASwiftTaskCancelsOnlyItsCaller() async throws {
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

    enum Product: CaseIterable, Sendable {
        case image, data, info, animation, frames, animationFrames

        func load(_ request: ImageRequest, _ loader: ImageLoader) async throws {
            switch self {
            case .image: _ = try await loader.image(for: request)
            case .data: _ = try await loader.data(for: request)
            case .info: _ = try await loader.info(for: request)
            case .animation: _ = try await loader.animation(for: request)
            case .frames: for try await _ in loader.previews(for: request) {}
            case .animationFrames: for try await _ in loader.animationFrames(for: request) {}
            }
        }
    }

    @Test(arguments: Product.allCases)
    func cancelingTheOnlyWaitingSwiftTaskStopsTheDownload(_ product: Product) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).stalled(at: .start))
            let loader = loader()
            let task = Task { try await product.load(ImageRequest(origin.url("/a.jpg")), loader) }
            await origin.requests(to: "/a.jpg", reach: 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
            await origin.openConnections(become: 0)
            #expect(!Task.isCancelled)
        }
    }

    @Test func cancelingAllCallersStopsTheTransfer() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).stalled(at: .body(100)))
            let loader = loader()
            let tasks = (0..<10).map { _ in loader.imageTask(for: ImageRequest(origin.url("/a.jpg"))) }
            await origin.requests(to: "/a.jpg", reach: 1)
            await loader.coordinator.callers(reach: 10)

            for task in tasks { task.cancel() }

            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cancelBeforeStartSendsNoRequest() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/busy", .init(body: [1]).stalled(at: .start))
            origin.route("/a", .init(body: [1]))
            let loader = loader(slots: 1)
            let busy = loader.imageTask(for: ImageRequest(origin.url("/busy")))
            await origin.requests(to: "/busy", reach: 1)
            let waiting = loader.imageTask(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.callers(reach: 2)

            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            await loader.coordinator.activity { $0.waiting == 0 }
            busy.cancel()
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.requests["/a"] == nil)
        }
    }

    @Test func alreadyCanceledTaskStartsNoDownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: [1]))
            let loader = loader()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await loader.data(for: ImageRequest(origin.url("/a")))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
            #expect(origin.counts.totalRequests == 0)
        }
    }

    @Test func canceledDownloadCanBeRequestedAgain() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.jpeg)
            origin.route("/a.jpg", [.init(body: file).stalled(at: .body(100)), .init(body: file)])
            let loader = loader()
            let first = loader.imageTask(for: ImageRequest(origin.url("/a.jpg")))
            await origin.requests(to: "/a.jpg", reach: 1)

            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            await loader.coordinator.becomesIdle()

            let again = try await loader.data(for: ImageRequest(origin.url("/a.jpg")))
            #expect(again.bytes == file)
            #expect(origin.counts.requests["/a.jpg"] == 2)
        }
    }

    @Test func requestRightAfterCancellationSucceeds() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            origin.route("/a.jpg", .init(body: try Samples.file(.jpeg)).held(at: .body(100), until: gate))
            let loader = loader()
            for _ in 0..<50 {
                let first = loader.imageTask(for: ImageRequest(origin.url("/a.jpg")))
                first.cancel()
                await #expect(throws: CancellationError.self) { try await first.value }
            }
            let last = loader.imageTask(for: ImageRequest(origin.url("/a.jpg")))
            gate.open()

            // Whether it joined a download that was about to stop or started its own, it gets the image.
            _ = try await last.value
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func endingAPreviewLoopEarlyLeavesTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 400, 300)
            origin.route("/a.png", .init(body: file).stalled(at: .body(file.count / 2)))
            let loader = loader()

            for try await _ in loader.previews(for: ImageRequest(origin.url("/a.png"))) { break }

            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
        }
    }
}
