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
