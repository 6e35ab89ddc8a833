import ImageCodecs
import ImageEncoders
import ImageTestSupport
import LoopbackOrigin
import ResponseCache
import TestSupport
import Testing

@testable import AsyncWebImage

/// Images that are loaded as files of another format or size.
@Suite(.timeLimit(.minutes(4)))
struct ImageFileTests {
    private let loader = ImageLoader(configuration: .patient)

    private func file(
        of body: [UInt8], as rule: OutputRule, _ options: DecodeOptions = DecodeOptions()
    ) async throws -> ImageFile {
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(body: body))
            return try await loader.file(for: ImageRequest(origin.url("/image"), options: options), as: rule)
        }
    }

    @Test(arguments: [EncodeOptions.jpeg(), .png(), .webp(), .gif()])
    func fileHasTheFormatAndTheSizeThatWereRequested(options: EncodeOptions) async throws {
        let options = options
        let file = try await file(
            of: try Samples.file(.png), as: OutputRule(options), DecodeOptions(target: .maximumSide(32)))
        #expect(file.format == options.format)
        #expect(file.size == PixelSize(width: 32, height: 24))
        let decoded = try decode(file.bytes)
        #expect(decoded.header.format == options.format)
        #expect(decoded.pixels.size == file.size)
        #expect(file.source == .network)
    }

    @Test func fileContainsThePixelsOfTheImage() async throws {
        let request = DecodeOptions(target: .maximumSide(20), pixelFormat: .bgra8Premultiplied)
        let file = try await file(of: try Samples.file(.png), as: OutputRule(.png()), request)
        let expected = try decode(try Samples.file(.png), options: DecodeOptions(target: .maximumSide(20)))
        #expect(try decode(file.bytes).pixels == expected.pixels)
    }

    @Test func clientThatHasTheFileIsRecognized() async throws {
        let file = try await file(of: try Samples.file(.png), as: OutputRule(.png()))
        #expect(file.matches(ifNoneMatch: file.entityTag) && file.matches(ifNoneMatch: "W/\(file.entityTag)"))
        #expect(file.matches(ifNoneMatch: "\"other\", \(file.entityTag)") && file.matches(ifNoneMatch: "*"))
        #expect(!file.matches(ifNoneMatch: nil) && !file.matches(ifNoneMatch: "\"other\""))
    }

    @Test func manyCallersShareOneDownloadAndOneFile() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            origin.route(
                "/image", LoopbackOrigin.Response(body: try Samples.file(.png)).held(at: .body(100), until: gate))
            let request = ImageRequest(origin.url("/image"), maximumSide: 16)
            let tasks = (0..<100).map { _ in loader.fileTask(for: request, as: OutputRule(.webp())) }
            await loader.coordinator.callers(reach: 100)
            #expect(await loader.coordinator.decodes.count == 1)
            gate.open()
            var tags: Set<String> = []
            for task in tasks { tags.insert(try await task.value.entityTag) }
            #expect(tags.count == 1)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test func cancelingOneCallerLeavesTheOthersTheirFile() async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            origin.route(
                "/image", LoopbackOrigin.Response(body: try Samples.file(.png)).held(at: .body(100), until: gate))
            let request = ImageRequest(origin.url("/image"))
            let first = loader.fileTask(for: request, as: OutputRule(.jpeg()))
            let second = Task { try await loader.file(for: request, as: OutputRule(.jpeg())) }
            let third = loader.fileTask(for: request, as: OutputRule(.jpeg()))
            await loader.coordinator.callers(reach: 3)
            first.cancel()
            second.cancel()
            gate.open()
            await #expect(throws: CancellationError.self) { try await first.value }
            await #expect(throws: CancellationError.self) { try await second.value }
            #expect(try await third.value.format == .jpeg)
        }
    }

    @Test func lastCallerToCancelStopsTheDownload() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(body: try Samples.file(.png)).stalled(at: .start))
            let task = loader.fileTask(for: ImageRequest(origin.url("/image")), as: OutputRule(.jpeg()))
            await loader.coordinator.callers(reach: 1)
            task.cancel()
            await loader.coordinator.becomesIdle()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test(arguments: [false, true])
    func handleHasProgressPriorityAndTheHeadOfTheResponse(hasCache: Bool) async throws {
        try await withLoopbackOrigin { origin in
            let gate = Gate()
            defer { gate.open() }
            let body = try Samples.file(.png)
            origin.route(
                "/image",
                LoopbackOrigin.Response(headerFields: ["ETag": "\"v1\""], body: body).held(at: .body(100), until: gate))
            var configuration = ImageLoader.Configuration.patient
            configuration.responseCache = hasCache ? try .test(nil, ManualTime()) : nil
            let loader = ImageLoader(configuration: configuration)
            let task = loader.fileTask(for: ImageRequest(origin.url("/image")), as: OutputRule(.jpeg()))
            for await progress in task.progress where progress.received > 0 { break }
            task.priority = .high
            #expect(task.priority == .high)
            gate.open()
            _ = try await task.value
            #expect(task.head?.response.headerFields[.eTag] == "\"v1\"")
        }
    }

    // MARK: Formats

    private func format(_ rule: OutputRule, of body: [UInt8]) async throws -> ImageFormat {
        try await file(of: body, as: rule).format
    }

    @Test(arguments: [
        ("image/avif,image/webp,*/*;q=0.8", [ImageFormat.webp, .webp, .webp]),
        ("image/jpeg, image/png, image/gif", [.jpeg, .png, .gif]),
        ("image/webp;q=0.1, image/png;q=0.9", [.png, .png, .webp]),
        ("image/webp;q=0, image/*", [.jpeg, .png, .gif]),
        ("image/jpeg", [.jpeg, .jpeg, .jpeg]),
        ("image/jpeg, image/gif", [.jpeg, .gif, .gif]),
        ("image/png", [.png, .png, .png]),
        ("text/html", [.webp, .webp, .webp]),
        ("", [.webp, .webp, .webp]),
        (nil, [.webp, .webp, .webp]),
    ])
    func bestFormatThatAClientAcceptsIsChosen(accept: String?, expected: [ImageFormat]) async throws {
        let rule = OutputRule(accepting: accept)
        let opaque = try Samples.file(.jpeg)
        let transparent = try TestImages.drawing(width: 20, height: 20, hasAlpha: true).encoded(as: .png)
        let animated = try animation(of: try TestImages.wanderingSquare(3), as: .gif)
        #expect(try await format(rule, of: opaque) == expected[0])
        #expect(try await format(rule, of: transparent) == expected[1])
        #expect(try await format(rule, of: animated) == expected[2])
    }

    @Test func opaqueImageThatCouldBeTransparentGetsTheFormatForOpaqueOnes() async throws {
        // The file declares an alpha channel that is not used.
        let opaque = try Samples.picture(8, 8).encoded(with: .png(PNGOptions(reducesColors: false)))
        #expect(try await format(OutputRule(accepting: "image/jpeg, image/png"), of: opaque) == .jpeg)
    }

    // MARK: Animations

    @Test(arguments: [ImageFormat.gif, .webp, .png])
    func animationKeepsItsFramesTimesAndRepetitions(target: ImageFormat) async throws {
        let frames = try TestImages.wanderingSquare(4)
        let original = try animation(of: frames, as: .gif, delay: .milliseconds(300), repetitionCount: 2)
        let file = try await file(of: original, as: OutputRule(try EncodeOptions(target)))
        let result = try AnimatedImage(file.bytes)
        #expect(result.frameCount == 4)
        #expect(result.repetitionCount == 2)
        #expect(result.delays == Array(repeating: .milliseconds(300), count: 4))
        #expect(file.size == frames[0].size)
    }

    @Test func animationIsScaled() async throws {
        let original = try animation(of: try TestImages.wanderingSquare(4), as: .gif)
        let side = 16
        let file = try await file(
            of: original, as: OutputRule(.webp()), DecodeOptions(target: .maximumSide(side)))
        #expect(max(file.size.width, file.size.height) == side)
        #expect(try AnimatedImage(file.bytes).size == file.size)
    }

    @Test func firstFrameIsTakenIfAnimationsAreNotKept() async throws {
        let original = try animation(of: try TestImages.wanderingSquare(4), as: .gif)
        let file = try await file(of: original, as: OutputRule(.webp(), keepsAnimations: false))
        #expect(try AnimatedImage(file.bytes).frameCount == 1)
        let jpeg = try await self.file(of: original, as: OutputRule(.jpeg()))
        #expect(jpeg.format == .jpeg)
    }

    @Test func animationOfOneFrameBecomesAStillImage() async throws {
        let original = try animation(of: try TestImages.wanderingSquare(1), as: .gif)
        let file = try await file(of: original, as: OutputRule(.webp()))
        #expect(try decode(file.bytes).header.mayBeAnimated == false)
    }

    @Test func transformationsAreAppliedToImagesAndFrames() async throws {
        let still = try Samples.file(.png)
        let animated = try animation(of: try TestImages.wanderingSquare(3), as: .gif)
        for body in [still, animated] {
            try await withLoopbackOrigin { origin in
                origin.route("/image", .init(body: body))
                var request = ImageRequest(origin.url("/image"))
                request.transformations = [.crop(x: 0, y: 0, width: 10, height: 8)]
                let file = try await loader.file(for: request, as: OutputRule(.webp()))
                #expect(file.size == PixelSize(width: 10, height: 8))
                #expect(try AnimatedImage(file.bytes).size == file.size)
            }
        }
    }

    // MARK: Metadata

    @Test func exifDataAreKeptWithTheOrientationOfTheResult() async throws {
        let original = TestExif.inserted(into: try Samples.file(.jpeg), .right)
        for format in [EncodeOptions.jpeg(), .png(), .webp()] {
            let kept = try await file(of: original, as: OutputRule(format, metadata: .exif))
            #expect(ImageMetadata(file: kept.bytes.span).exif == TestExif.bytes(orientation: 1))
            #expect(kept.size == PixelSize(width: 48, height: 64))
            #expect(try decode(kept.bytes).pixels.size == kept.size)
            let without = try await file(of: original, as: OutputRule(format))
            #expect(ImageMetadata(file: without.bytes.span).isEmpty)
        }
    }

    @Test func exifDataBehindThePixelsAreKept() async throws {
        let pixels = Samples.picture(8, 8)
        let original = try pixels.encoded(
            with: .webp(), metadata: ImageMetadata(exif: TestExif.bytes(orientation: 1)))
        let kept = try await file(of: original, as: OutputRule(.jpeg(), metadata: .exif))
        #expect(ImageMetadata(file: kept.bytes.span).exif == TestExif.bytes(orientation: 1))
    }

    @Test func ruleDecidesWhetherColorsAreConverted() throws {
        func keeps(_ options: DecodeOptions, _ metadata: OutputRule.Metadata) -> Bool {
            FileIdentity(
                recipe: PixelRecipe(options: options), rule: OutputRule(.jpeg(), metadata: metadata)
            ).decodeOptions.keepsProfile
        }
        #expect(keeps(DecodeOptions(), .colorProfile))
        #expect(keeps(DecodeOptions(), [.colorProfile, .exif]))
        #expect(!keeps(DecodeOptions(keepsProfile: true), .exif))
    }

    @Test func identitiesOfDecodeOptionsDiffer() {
        var all: [DecodeOptions] = []
        let size = PixelSize(width: 7, height: 9)
        let targets: [DecodeOptions.Target] = [
            .original, .maximumSide(7), .shorterSide(7), .fit(size), .fill(size), .maximumBytes(7),
        ]
        for target in targets { all.append(DecodeOptions(target: target)) }
        for filter in Resampling.Filter.allCases where filter != .lanczos3 {
            all.append(DecodeOptions(resampling: Resampling(filter: filter)))
        }
        for format in PixelFormat.allCases where format != .rgba8 { all.append(DecodeOptions(pixelFormat: format)) }
        all.append(DecodeOptions(resampling: Resampling(usesLinearLight: true)))
        all.append(DecodeOptions(allowsUpscaling: true))
        all.append(DecodeOptions(ignoresOrientation: true))
        all.append(DecodeOptions(stopsWhenComplete: true))
        all.append(DecodeOptions(allowsPartial: true))
        all.append(DecodeOptions(keepsProfile: true))
        #expect(Set(all.map(\.identity)).count == all.count)
        // A new option must be part of the identity.
        #expect(Mirror(reflecting: DecodeOptions()).children.count == 8)
        #expect(Mirror(reflecting: Resampling()).children.count == 2)
    }

    // MARK: Failures

    @Test func fileThatTheFormatCannotStoreIsAnError() async throws {
        let wide = try PixelBuffer(
            size: PixelSize(width: 16_400, height: 1), bytes: [UInt8](repeating: 255, count: 65_600)
        ).unwrapped().encoded(as: .png)
        let error = await #expect(throws: ImageError.self) { try await file(of: wide, as: OutputRule(.webp())) }
        #expect(error?.code == .encode)
    }

    @Test func damagedImageIsAnErrorUnlessPartialOnesAreAllowed() async throws {
        let half = Array(try Samples.file(.jpeg).dropLast(200))
        await #expect(throws: ImageError.self) { try await file(of: half, as: OutputRule(.png())) }
        let partial = try await file(of: half, as: OutputRule(.png()), DecodeOptions(allowsPartial: true))
        #expect(partial.isPartial)
    }

    @Test func imageThatNeedsMoreMemoryThanTheBudgetIsAnError() async throws {
        var configuration = ImageLoader.Configuration.patient
        configuration.decoding.memoryBudget = 100 << 10
        let small = ImageLoader(configuration: configuration)
        try await withLoopbackOrigin { origin in
            origin.route("/image", .init(body: try Samples.file(.png, 200, 200)))
            let error = await #expect(throws: ImageError.self) {
                try await small.file(for: ImageRequest(origin.url("/image")), as: OutputRule(.webp()))
            }
            #expect(error?.code == .tooManyPixels)
            #expect(await small.decoder.memoryInUse == 0)
        }
    }
}
