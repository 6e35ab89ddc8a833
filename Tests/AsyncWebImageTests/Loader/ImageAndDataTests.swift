@testable import AsyncWebImage
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ImageAndDataTests {
    private let loader = ImageLoader(configuration: .patient)

    @Test func imageAndItsBodyAreOfOneDownload() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/image", .init(body: file))
            let result = try await loader.imageAndData(for: ImageRequest(origin.url("/image"), maximumSide: 8))
            #expect(result.data.bytes == file)
            #expect(max(result.image.pixels.size.width, result.image.pixels.size.height) == 8)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    /// The response is complete before a second caller could join its download.
    @Test func instantResponseIsRequestedOnceForBoth() async throws {
        let file = try Samples.file(.png)
        let loader = ImageLoader(configuration: .patient, transport: InstantTransport(body: file))
        let events = loader.coordinator.events()
        for number in 0..<100 {
            let result = try await loader.imageAndData(for: ImageRequest("http://host/\(number)", maximumSide: 8))
            #expect(result.data.bytes == file)
        }
        await loader.shutdown(gracePeriod: .zero)
        var downloads = 0
        for await event in events {
            if case .queued = event.kind { downloads += 1 }
        }
        #expect(downloads == 100)
    }

    @Test func cancelingLeavesTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(body: try Samples.file(.png)).stalled(at: .start))
            let task = Task { try await loader.imageAndData(for: ImageRequest(origin.url("/image"))) }
            await loader.coordinator.callers(reach: 2)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func failedDownloadHasNeither() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(status: 404))
            await #expect(throws: ImageError.self) {
                try await loader.imageAndData(for: ImageRequest(origin.url("/image")))
            }
        }
    }

    @Test func imageOfAURLHasAMaximumSide() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(body: try Samples.file(.png)))
            let image = try await loader.image(for: origin.url("/image"), maximumSide: 8)
            #expect(max(image.pixels.size.width, image.pixels.size.height) == 8)
        }
    }
}
