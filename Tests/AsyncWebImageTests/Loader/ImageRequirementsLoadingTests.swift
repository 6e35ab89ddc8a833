import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import TestSupport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Images that are rejected by their header while they arrive.
@Suite(.timeLimit(.minutes(1)))
struct ImageRequirementsLoadingTests {
    private let tooLarge = ImageRequirements(minimumSide: 500)

    private func code(_ load: () async throws -> Void) async -> String? {
        await #expect(throws: ImageError.self) { try await load() }?.code.rawValue
    }

    @Test func theTransferOfAnUnsuitableImageStopsAtItsHeader() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            origin.route("/a", .init(body: file).stalled(at: .body(200)))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/a"), requirements: tooLarge)
            #expect(await code { _ = try await loader.image(for: request) } == "too_small")
            #expect(await code { _ = try await loader.animation(for: request) } == "too_small")
            #expect(await code { _ = try await loader.info(for: request) } == "too_small")
            #expect(await code { for try await _ in loader.previews(for: request) {} } == "too_small")
            #expect(await code { for try await _ in loader.animationFrames(for: request) {} } == "too_small")
            await origin.openConnections(become: 0)
            await loader.coordinator.becomesIdle()
            #expect(await loader.decoder.memoryInUse == 0)
        }
    }

    @Test func callersWithOtherRequirementsKeepTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            let gate = Gate()
            origin.route("/a", .init(body: file).held(at: .body(200), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let url = origin.url("/a")
            let image = loader.imageTask(for: ImageRequest(url, requirements: .init(minimumSide: 200)))
            await origin.bodyBytesSent(to: "/a", reach: 200)
            let unsuitable = ImageRequest(url, requirements: tooLarge)
            // One of them joins before the header has been read, the others afterward.
            for _ in 0..<3 {
                #expect(await code { _ = try await loader.image(for: unsuitable) } == "too_small")
            }
            gate.open()
            #expect(try await image.value.pixels == Samples.picture(300, 200))
            #expect(origin.counts.totalRequests == 1)
            await loader.coordinator.becomesIdle()
            #expect(loader.imageCache.count == 1)
        }
    }

    @Test func imagesThatMeetTheRequirementsAreLoaded() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png, 300, 200)))
            let loader = ImageLoader(configuration: .patient)
            let requirements = ImageRequirements(
                minimumSide: 200, maximumSide: 300, maximumPixels: 60_000, maximumAspectRatio: 1.5,
                formats: [.png, .jpeg], maximumFrames: 1)
            let request = ImageRequest(origin.url("/a"), requirements: requirements)
            #expect(try await loader.image(for: request).pixels.width == 300)
            #expect(try await loader.info(for: request).header.size.width == 300)
            #expect(try await loader.animation(for: request).animation.frameCount == 1)
            await loader.coordinator.becomesIdle()
        }
    }

    @Test func cachedImagesAreCheckedToo() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png, 300, 200)))
            let loader = ImageLoader(configuration: .patient)
            // The size of the file counts, not that of the result.
            _ = try await loader.image(for: ImageRequest(origin.url("/a"), maximumSide: 30))
            var request = ImageRequest(origin.url("/a"), maximumSide: 30)
            request.requirements = .init(minimumSide: 200)
            #expect(try await loader.image(for: request).source == .imageCache)
            request.requirements = tooLarge
            let unsuitable = request
            #expect(await code { _ = try await loader.image(for: unsuitable) } == "too_small")
            #expect(await code { _ = try await loader.imageTask(for: unsuitable).value } == "too_small")
            #expect(origin.counts.totalRequests == 1)
        }
    }

    /// The header of an animated GIF does not contain the number of its frames.
    @Test func framesAreCountedWhereTheFileIsReadToItsEnd() async throws {
        try await withLoopbackOrigin { origin in
            let encoder = try AnimationEncoder(format: .gif, size: PixelSize(width: 40, height: 30))
            for frame in 0..<3 {
                var bytes = Samples.picture(40, 30).bytes
                for offset in frame * 400..<frame * 400 + 600 { bytes[offset] |= 0xE0 }
                let pixels = try #require(PixelBuffer(size: PixelSize(width: 40, height: 30), bytes: bytes))
                try encoder.append(pixels, delay: .milliseconds(50))
            }
            origin.route("/a", .init(body: try encoder.finish()))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/a"), requirements: .init(maximumFrames: 2))
            #expect(await code { _ = try await loader.animation(for: request) } == "too_many_frames")
            #expect(await code { _ = try await loader.info(for: request, readsAnimation: true) } == "too_many_frames")
            #expect(try await loader.info(for: request).header.frameCount == nil)
        }
    }

    /// A stored file that is not the expected one must not be judged.
    @Test func theDigestOfAStoredFileIsCheckedFirst() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png, 300, 200)
            let old = try Samples.file(.png, 64, 48)
            origin.route("/a") { request in
                .init(headerFields: ["Cache-Control": "max-age=60"], body: request.ordinal == 1 ? old : file)
            }
            var configuration = ImageLoader.Configuration.patient
            configuration.responseCache = try ResponseCache.test(nil, ManualTime())
            let loader = ImageLoader(configuration: configuration)
            _ = try await loader.data(for: ImageRequest(origin.url("/a")))
            await loader.coordinator.becomesIdle()
            let request = ImageRequest(
                origin.url("/a"), expectedDigest: try .of(file, .sha256), requirements: .init(minimumSide: 200))
            #expect(try await loader.image(for: request).pixels.width == 300)
        }
    }
}
