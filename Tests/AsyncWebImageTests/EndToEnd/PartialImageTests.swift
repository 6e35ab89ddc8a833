import AsyncWebImage
import ImageCodecs
import ImageEncoders
import LoopbackOrigin
import Testing

/// The results of incomplete images.
@Suite(.timeLimit(.minutes(2)))
struct PartialImageTests {
    typealias Response = LoopbackOrigin.Response

    private static let partial = DecodeOptions(allowsPartial: true)

    @Test(arguments: EncodeOptions.formats)
    func interruptedTransferGivesReceivedRowsIfAllowed(_ format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(format)
            origin.route("/image", Response(body: file).cut(at: .body(file.count * 3 / 4)))
            let loader = ImageLoader(configuration: .patient)
            let request = ImageRequest(origin.url("/image"), options: Self.partial)
            let response = try await loader.image(for: request)
            #expect(response.isPartial)
            let rows = response.image.completeRows
            #expect(rows > 0 && rows < 48)
            let whole = try StreamingDecoder.decode(file.span).pixels
            #expect(response.pixels.bytes.prefix(rows * 64 * 4) == whole.bytes.prefix(rows * 64 * 4))

            await loader.coordinator.becomesIdle()
            #expect(loader.imageCache.count == 0)
            #expect(await loader.decoder.memoryInUse == 0)
            _ = try await loader.image(for: request)
            #expect(origin.counts.requests["/image"] == 2)
        }
    }

    @Test func lastPreviewFrameMayBePartial() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/image", Response(body: file).cut(at: .body(file.count * 3 / 4)))
            var last: ImagePreview?
            let request = ImageRequest(origin.url("/image"), options: Self.partial)
            for try await frame in ImageLoader(configuration: .patient).previews(for: request) { last = frame }
            let frame = try #require(last)
            #expect(frame.isFinal)
            #expect(frame.response?.isPartial == true)
            #expect(frame.completeRows > 0 && frame.completeRows < 48)
        }
    }

    @Test(arguments: EncodeOptions.formats)
    func truncatedFileErrorContainsTheDecodedRows(_ format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(format)
            origin.route("/image", Response(body: Array(file.dropLast(file.count / 4))))
            let loader = ImageLoader(configuration: .patient)
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/image")))
            }
            guard case .codec(.truncated(format), _, let partial?) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(partial.isPartial)
            #expect(partial.completeRows > 0)
            #expect(partial.pixels.size == PixelSize(width: 64, height: 48))
        }
    }

    @Test(arguments: EncodeOptions.formats)
    func interruptedTransferWithoutRowsThrowsTransportError(_ format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(format)
            for count in [0, 10, 30] {
                origin.route("/image", Response(body: file).cut(at: .body(count)))
                let error = await #expect(throws: ImageError.self) {
                    try await ImageLoader(configuration: .patient).image(
                        for: ImageRequest(origin.url("/image"), options: Self.partial))
                }
                guard case .transport = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    @Test func interruptedAnimationConsistsOfItsCompleteFrames() async throws {
        try await withLoopbackOrigin { origin in
            let encoder = try AnimationEncoder(format: .gif, size: PixelSize(width: 64, height: 48))
            for shift in 0..<3 {
                try encoder.append(Samples.picture(64, 48 + shift).cropped(to: 48), delay: .milliseconds(100))
            }
            let file = try encoder.finish()
            origin.route("/image", Response(body: file).cut(at: .body(file.count - 40)))
            let response = try await ImageLoader(configuration: .patient).animation(
                for: ImageRequest(origin.url("/image"), options: Self.partial))
            #expect(response.animation.isPartial)
            #expect(response.animation.frameCount == 2)
        }
    }
}

extension PixelBuffer {
    /// The rows above `height`.
    fileprivate func cropped(to height: Int) throws -> PixelBuffer {
        try #require(
            PixelBuffer(size: PixelSize(width: width, height: height), bytes: Array(bytes.prefix(width * height * 4))))
    }
}
