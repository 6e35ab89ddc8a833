import ImageCodecs
import ImageEncoders
import ImageProcessing
import ImageTestSupport
import LoopbackOrigin
import ResponseCache
import TestSupport
import Testing

@testable import AsyncWebImage

/// Transformations as a part of requests.
@Suite(.timeLimit(.minutes(1)))
struct TransformationTests {
    private let loader = ImageLoader(configuration: .patient)
    private let steps: [ImageTransformation] = [.crop(x: 8, y: 4, width: 20, height: 30), .rounded(radius: 5)]

    @Test func imageIsTransformedAfterDecoding() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/a", .init(body: file))
            let response = try await loader.image(for: ImageRequest(origin.url("/a"), transformations: steps))
            #expect(try response.pixels == decode(file).pixels.applying(steps))
            #expect(response.image.originalSize == PixelSize(width: 64, height: 48))
            #expect(response.image.completeRows == 30)
            #expect(!response.image.isPartial)
        }
    }

    @Test func requestsWithOtherTransformationsShareTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            origin.route("/a", LoopbackOrigin.Response(body: try Samples.file(.png)).held(at: .body(100), until: gate))
            let lists: [[ImageTransformation]] = [[], steps, steps, [.grayscale]]
            let tasks = lists.map { loader.imageTask(for: ImageRequest(origin.url("/a"), transformations: $0)) }
            await loader.coordinator.callers(reach: 4)
            #expect(await loader.coordinator.decodes.count == 3)
            gate.open()
            var sizes: [PixelSize] = []
            for task in tasks { sizes.append(try await task.value.pixels.size) }
            let (whole, part) = (PixelSize(width: 64, height: 48), PixelSize(width: 20, height: 30))
            #expect(sizes == [whole, part, part, whole])
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func transformationsArePartOfTheKeyOfTheCache() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            var request = ImageRequest(origin.url("/a"), transformations: steps)
            let first = try await loader.image(for: request)
            let cached = try await loader.image(for: request)
            #expect(cached.source == .imageCache)
            #expect(cached.pixels == first.pixels)
            #expect(loader.cacheKey(for: request)?.transformations == steps)
            request.transformations = [.grayscale]
            #expect(try await loader.image(for: request).source == .network)
        }
    }

    @Test func impossibleTransformationIsAnErrorOfTheImage() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            let url = origin.url("/a")
            for transformation in [
                ImageTransformation.crop(x: 60, y: 0, width: 9, height: 9), .blur(sigma: 10_000),
                .overlay(Samples.picture(65, 3)),
            ] {
                let request = ImageRequest(url, transformations: [transformation])
                let error = await #expect(throws: ImageError.self) { try await loader.image(for: request) }
                #expect(error?.code == .transform)
                guard case .codec(.transformationFailed, url, _) = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }
    }

    @Test func memoryOfTransformationsIsGrantedBeforeTheDecode() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            var configuration = ImageLoader.Configuration.patient
            configuration.decoding.memoryBudget = 2 << 20
            let loader = ImageLoader(configuration: configuration)
            let large = ImageTransformation.pad(to: PixelSize(width: 1_000, height: 1_000))
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/a"), transformations: [large]))
            }
            guard case .codec(.overLimit(.memory, let value, 2_097_152), _, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(value > 4_000_000)
            #expect(try await loader.image(for: ImageRequest(origin.url("/a"))).pixels.width == 64)
        }
    }

    /// Transformed previews have the size of the image, whatever the policy allows.
    @Test func memoryOfPreviewsIsGrantedWithTheDecode() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            let large = ImageTransformation.pad(to: PixelSize(width: 1_000, height: 1_000))
            var needs: [Int] = []
            for selection in [PreviewPolicy.Selection.none, .all] {
                var configuration = ImageLoader.Configuration.patient
                configuration.decoding.memoryBudget = 2 << 20
                configuration.previews.selection = selection
                let loader = ImageLoader(configuration: configuration)
                let error = await #expect(throws: ImageError.self) {
                    try await loader.image(for: ImageRequest(origin.url("/a"), transformations: [large]))
                }
                guard case .codec(.overLimit(.memory, let value, _), _, _) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                needs.append(value)
            }
            #expect(needs[1] - needs[0] == (64 * 48 + 1_000_000) * 4)
        }
    }

    @Test func partOfADamagedImageIsTransformed() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/a", .init(body: Array(file.dropLast(file.count / 4))))
            let request = ImageRequest(origin.url("/a"), transformations: steps)
            let error = await #expect(throws: ImageError.self) { try await loader.image(for: request) }
            guard case .codec(.truncated, _, let partial?) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(partial.isPartial)
            #expect(partial.pixels.size == PixelSize(width: 20, height: 30))
        }
    }

    @Test func cachedImagesOfOtherSizesHaveTheSameTransformations() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            let request = ImageRequest(origin.url("/a"), transformations: steps)
            _ = try await loader.image(for: request)
            _ = try await loader.image(for: ImageRequest(origin.url("/a")))
            #expect(loader.imageCache.count == 2)
            #expect(loader.cachedImages(for: request).map(\.pixels.width) == [20])
        }
    }

    @Test func resultsBeyondTheLimitsAreRefused() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try Samples.file(.png)))
            var configuration = ImageLoader.Configuration.patient
            configuration.decoding.limits.maximumPixels = 5_000
            let loader = ImageLoader(configuration: configuration)
            let error = await #expect(throws: ImageError.self) {
                try await loader.image(for: ImageRequest(origin.url("/a"), transformations: [.pad(left: 100)]))
            }
            #expect(error?.code == .tooManyPixels)
        }
    }

    @Test func previewsAreTransformedInFullSize() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            let file = try Samples.picture(400, 300).encoded(as: .jpeg, isProgressive: true)
            origin.route("/a", LoopbackOrigin.Response(body: file).held(at: .body(file.count - 100), until: gate))
            var configuration = ImageLoader.Configuration.patient
            configuration.previews.maximumSide = 50
            let loader = ImageLoader(configuration: configuration)
            var count = 0
            let request = ImageRequest(
                origin.url("/a"), transformations: [.crop(x: 300, y: 200, width: 90, height: 80)])
            for try await preview in loader.previews(for: request) {
                #expect(preview.pixels.size == PixelSize(width: 90, height: 80))
                count += 1
                gate.open()
            }
            #expect(count >= 2)
        }
    }

    @Test func previewsThatCannotBeTransformedAreLeftOut() async throws {
        struct Incomplete: Error {}
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            let file = try Samples.file(.png, 400, 300)
            origin.route("/a", LoopbackOrigin.Response(body: file).held(at: .body(file.count * 3 / 4), until: gate))
            let complete = ImageTransformation.custom(identifier: "complete", workingBytes: { _ in 0 }) { image in
                // Missing rows are transparent.
                guard image.isOpaque else {
                    gate.open()
                    throw Incomplete()
                }
                return image
            }
            var shown: [Bool] = []
            let request = ImageRequest(origin.url("/a"), transformations: [complete])
            for try await preview in loader.previews(for: request) { shown.append(preview.isFinal) }
            #expect(shown == [true])
        }
    }

    @Test(arguments: [ImageFormat.png, .gif, .webp])
    func framesOfAnimationsAreTransformed(format: ImageFormat) async throws {
        try await withLoopbackOrigin { origin in
            let frames = try TestImages.wanderingSquare(3)
            let file = try animation(of: frames, format)
            origin.route("/a", .init(body: file))
            let transformations: [ImageTransformation] = [.pad(left: 3, color: .white), .rotate(degrees: 90)]
            let request = ImageRequest(origin.url("/a"), transformations: transformations)
            let original = AnimationDecoder(try AnimatedImage(file))
            let image = try await loader.animation(for: request).animation
            #expect(image.size == PixelSize(width: frames[0].height, height: frames[0].width + 3))
            let decoder = AnimationDecoder(image)
            for index in [2, 0, 1] {
                #expect(try decoder.frame(at: index) == original.frame(at: index).applying(transformations))
            }
            var count = 0
            for try await frame in loader.animationFrames(for: request) {
                #expect(try frame.pixels == original.frame(at: frame.index).applying(transformations))
                count += 1
            }
            #expect(count == 3)
        }
    }

    @Test func framesCannotDependOnTheirPixels() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/a", .init(body: try animation(of: TestImages.wanderingSquare(3), .gif)))
            let request = ImageRequest(origin.url("/a"), transformations: [.trim()])
            let error = await #expect(throws: ImageError.self) { try await loader.animation(for: request) }
            #expect(error?.code == .transform)
            // The first frame alone is an image.
            _ = try await loader.image(for: request)
        }
    }

    @Test func stillImagesAreTransformedAsAnimations() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.gif)
            origin.route("/a", .init(body: file))
            let request = ImageRequest(origin.url("/a"), transformations: steps)
            let image = try await loader.animation(for: request).animation
            #expect(image.size == PixelSize(width: 20, height: 30))
            #expect(try AnimationDecoder(image).frame(at: 0) == decode(file).pixels.applying(steps))
        }
    }

    @Test func filesAreTransformedAndStoredApart() async throws {
        try await withLoopbackOrigin { origin in
            let file = try Samples.file(.png)
            origin.route("/a", .init(headerFields: ["Cache-Control": "max-age=100"], body: file))
            var configuration = ImageLoader.Configuration.patient
            configuration.responseCache = try TestStorage.memory.cache("", ManualTime())
            let loader = ImageLoader(configuration: configuration)
            for transformations in [[], steps] {
                let request = ImageRequest(origin.url("/a"), transformations: transformations)
                for _ in 0..<2 {
                    let result = try await loader.file(for: request, as: OutputRule(.png()))
                    #expect(try decode(result.bytes).pixels == decode(file).pixels.applying(transformations))
                }
            }
            #expect(origin.counts.totalRequests == 1)
        }
    }

    private func animation(of frames: [PixelBuffer], _ format: ImageFormat) throws -> [UInt8] {
        let encoder = try AnimationEncoder(format: format, size: frames[0].size)
        for frame in frames { try encoder.append(frame, delay: .milliseconds(50)) }
        return try encoder.finish()
    }
}
