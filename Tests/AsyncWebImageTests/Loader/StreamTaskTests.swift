@testable import AsyncWebImage
import LoopbackOrigin
import Testing

/// The handles of previews and of the frames of animations.
@Suite(.timeLimit(.minutes(1)))
struct StreamTaskTests {
    private let loader = ImageLoader(configuration: .patient)

    @Test func previewTaskDeliversTheFinalImageAndTheHeadOfItsResponse() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(headerFields: ["ETag": "\"v1\""], body: try Samples.file(.gif)))
            let task = loader.previewTask(for: ImageRequest(origin.url("/image")))
            var last: ImagePreview?
            for try await frame in task.stream { last = frame }
            #expect(last?.isFinal == true)
            #expect(task.head?.response.headerFields[.eTag] == "\"v1\"")
        }
    }

    @Test func animationFrameTaskDeliversEachFrameAndKeepsTheHeadOfItsResponse() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.gif)
            origin.route("/image", .init(headerFields: ["ETag": "\"v1\""], body: file))
            let request = ImageRequest(origin.url("/image"))
            let task = loader.animationFrameTask(for: request)
            var indices: [Int] = []
            for try await frame in task.stream { indices.append(frame.index) }
            let animation = try await loader.animation(for: request)
            #expect(indices == Array(0..<animation.animation.frameCount))
            #expect(task.head?.response.headerFields[.eTag] == "\"v1\"")
        }
    }

    @Test func previewTaskStartsItsDownloadAndReportsProgressBeforeAFrameIsRequested() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            let file = try Samples.file(.gif)
            let held = LoopbackOrigin.Response(headerFields: ["ETag": "\"v1\""], body: file)
                .held(at: .body(file.count - 1), until: gate)
            origin.route("/image", held)
            let task = loader.previewTask(for: ImageRequest(origin.url("/image")))
            for await progress in task.progress where progress.received > 0 { break }
            #expect(task.head?.response.headerFields[.eTag] == "\"v1\"")
            gate.open()
            var isFinal = false
            for try await frame in task.stream { isFinal = frame.isFinal }
            #expect(isFinal)
        }
    }

    @Test func canceledFrameTasksThrowAndLeaveTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: try Samples.file(.gif)).stalled(at: .start))
            let request = ImageRequest(origin.url("/image"))
            let (previews, frames) = (loader.previewTask(for: request), loader.animationFrameTask(for: request))
            previews.cancel()
            frames.cancel()
            await #expect(throws: CancellationError.self) { for try await _ in previews.stream {} }
            await #expect(throws: CancellationError.self) { for try await _ in frames.stream {} }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func releasedFrameTaskLeavesTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: try Samples.file(.gif)).stalled(at: .start))
            _ = loader.previewTask(for: ImageRequest(origin.url("/image")))
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func priorityOfAFrameTaskCanBeChanged() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", LoopbackOrigin.Response(body: try Samples.file(.gif)).stalled(at: .start))
            let task = loader.previewTask(for: ImageRequest(origin.url("/image"), priority: .low))
            #expect(task.priority == .low)
            task.priority = .high
            #expect(task.priority == .high)
            task.cancel()
        }
    }

    @Test func invalidURLFailsFrameTasks() async throws {
        let request = ImageRequest("not a URL")
        await #expect(throws: ImageError.self) { for try await _ in loader.previewTask(for: request).stream {} }
        await #expect(throws: ImageError.self) { for try await _ in loader.animationFrameTask(for: request).stream {} }
        #expect(loader.previewTask(for: request).head == nil)
    }
}
