import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

@Suite(.timeLimit(.minutes(1)))
struct AnimationLoadingTests {
    private static func file(_ format: ImageFormat) throws -> [UInt8] {
        let encoder = try AnimationEncoder(format: format, size: PixelSize(width: 64, height: 48))
        for seed in 0..<3 {
            var frame = Samples.picture(64, 48).bytes
            for offset in seed * 100..<seed * 100 + 400 { frame[offset] |= 0xE0 }
            let pixels = PixelBuffer(size: PixelSize(width: 64, height: 48), bytes: frame)
            try encoder.append(try #require(pixels), delay: .milliseconds(100))
        }
        return try encoder.finish()
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp])
    func animationsAreLoaded(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Self.file(format)
            origin.route("/image", .init(body: file))
            let request = ImageRequest(origin.url("/image"), maximumSide: 32)

            let response = try await ImageLoader(configuration: .patient).animation(for: request)

            #expect((response.source, response.byteCount) == (.network, file.count))
            let animation = response.animation
            #expect((animation.frameCount, animation.size) == (3, PixelSize(width: 32, height: 24)))
            let expected = try AnimationDecoder(AnimatedImage(file, options: request.options)).frame(at: 2)
            #expect(try AnimationDecoder(animation).frame(at: 2) == expected)
        }
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp])
    func infoReadsAnimationsToTheEndOnRequest(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Self.file(format)
            // In pieces, so that the header is received long before the end.
            origin.route("/image", .init(body: file).paced(bytesPerSecond: 1 << 20, chunk: 100))
            let loader = ImageLoader(configuration: .patient)
            let info = try await loader.info(for: ImageRequest(origin.url("/image")), readsAnimation: true)

            #expect(info.header.frameCount == 3 && info.byteCount == file.count)
            #expect(info.animation?.duration == .milliseconds(300))
            #expect(origin.counts.requests["/image"] == 1)
        }
    }

    @Test func infoReadsOnlyTheHeaderOfStillImages() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.jpeg, 2_000, 1_500)
            let gate = Gate()
            origin.route("/image.jpg", .init(body: file).held(at: .body(4_096), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let info = try await loader.info(for: ImageRequest(origin.url("/image.jpg")), readsAnimation: true)

            #expect(info.header.size == PixelSize(width: 2_000, height: 1_500))
            #expect(info.byteCount <= 4_096 && info.animation == nil)
            await origin.openConnections(become: 0)
        }
    }

    @Test func truncatedAnimationHasNoInfo() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Self.file(.gif)
            origin.route("/image", .init(body: Array(file.dropLast(file.count / 3))))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/image"))
            let error = await #expect(throws: ImageError.self) {
                try await loader.info(for: request, readsAnimation: true)
            }
            guard case .codec(.truncated, _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try await loader.info(for: request).header.format == .gif)
        }
    }

    @Test(arguments: EncodeOptions.formats)
    func stillImagesAreAnimationsOfOneFrame(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(format)
            origin.route("/image", .init(body: file))
            let loader = ImageLoader(configuration: .patient)
            let animation = try await loader.animation(for: ImageRequest(origin.url("/image"))).animation

            #expect(animation.frameCount == 1)
            var frames: [AnimationFrame] = []
            for try await frame in loader.play(animation, clock: ManualClock()) {
                frames.append(frame)
                break  // its time is irrelevant
            }
            #expect(frames.map(\.pixels) == [try StreamingDecoder.decode(file.span).pixels])
        }
    }

    @Test func callersOfAnAnimationShareTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Self.file(.gif)
            let gate = Gate()
            origin.route("/image", .init(body: file).held(at: .body(file.count / 2), until: gate))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/image"))

            async let first = loader.animation(for: request)
            async let second = loader.animation(for: request)
            async let still = loader.image(for: request)
            await loader.coordinator.callers(reach: 3)
            gate.open()

            #expect(try await first.animation.frameCount == 3)
            #expect(try await second.animation.frameCount == 3)
            #expect(try await still.image.header.frameCount == 3)
            #expect(origin.counts.requests["/image"] == 1)
        }
    }

    @Test func truncatedAnimationFileIsAnError() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Self.file(.gif)
            origin.route("/image", .init(body: Array(file.dropLast(40))))
            let loader = ImageLoader(configuration: .patient)
            await #expect {
                try await loader.animation(for: ImageRequest(origin.url("/image")))
            } throws: { error in
                if case ImageError.codec(.truncated(.gif), _, _) = error { true } else { false }
            }
        }
    }

    @Test func cancelingAnAnimationLeavesTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Self.file(.gif)
            origin.route("/image", .init(body: file).stalled(at: .body(file.count / 2)))
            let loader = ImageLoader(configuration: .patient)
            let task = Task { try await loader.animation(for: ImageRequest(origin.url("/image"))) }
            await origin.bodyBytesSent(to: "/image", reach: file.count / 2)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await origin.openConnections(become: 0)
        }
    }
}
