import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// The target sizes of decodes, for every codec.
@Suite(.timeLimit(.minutes(5)))
struct DecodeTargetTests {
    static let targets: [DecodeOptions.Target] = [
        .original, .maximumSide(31), .shorterSide(31), .fit(PixelSize(width: 90, height: 20)),
        .fill(PixelSize(width: 24, height: 24)),
        .fill(PixelSize(width: 200, height: 200)), .maximumBytes(8_000),
    ]

    private func fill(_ width: Int, _ height: Int) -> DecodeOptions {
        DecodeOptions(target: .fill(PixelSize(width: width, height: height)))
    }

    @Test(arguments: EncodeOptions.formats, targets)
    func scaledImageDoesNotDependOnPieceSizes(format: ImageFormat, target: DecodeOptions.Target) throws {
        let file = try TestImage.photo(97, 71).encoded(as: format)
        for filter in [Resampling.Filter.lanczos3, .box] {
            let options = DecodeOptions(target: target, resampling: Resampling(filter: filter))
            let whole = try decode(file, options: options)
            var random = SeededGenerator(seed: 9)
            #expect(try decode(file, options: options) { 1 } == whole)
            #expect(try decode(file, options: options) { .random(in: 1...900, using: &random) } == whole)
        }
    }

    /// Tiles that are scaled one after the other would show where they meet.
    @Test(arguments: [97, 500, 1_400])
    func tallImageIsScaledWithoutSeams(height: Int) throws {
        let image = TestImage.photo(21, 2_003)
        let file = try TestPNG.file(of: image, orientation: .up)
        let result = try decode(file, options: DecodeOptions(target: .maximumSide(height))).pixels
        #expect(result.height == height)
        let reference = ReferenceScaler().scale(image, to: result.size)
        #expect(zip(result.bytes, reference).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    @Test(arguments: ImageOrientation.allCases)
    func fillingCutsTheMiddleOutOfTheUprightImage(orientation: ImageOrientation) throws {
        let image = TestImage.photo(96, 60)
        let file = try TestPNG.file(of: image, orientation: orientation)
        let size = PixelSize(width: 20, height: 30)
        let result = try decode(file, options: fill(20, 30))
        #expect(result.pixels.size == size)
        #expect(result.originalSize == image.size.upright(orientation))
        #expect(result.visibleSize == (orientation.swapsAxes ? PixelSize(width: 60, height: 90) : size.scaled(by: 2)))
        #expect(result.wasScaled && result.wasCropped)

        let upright = image.turned(orientation)
        let shown = PixelRegion(
            width: Double(result.visibleSize.width), height: Double(result.visibleSize.height),
            inTheMiddleOf: upright.size)
        let reference = ReferenceScaler().scale(upright, region: shown, to: size)
        #expect(zip(result.pixels.bytes, reference).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    /// The orientation of a WebP usually follows the pixels, which have to be decoded before it is known which side is
    /// the width.
    @Test(arguments: [ImageOrientation.up, .right], [60, 200])
    func imageIsAsSharpIfItsOrientationFollowsThePixels(orientation: ImageOrientation, width: Int) throws {
        let webp = try TestImages.drawing(width: 320, height: 240).encoded(as: .webp, quality: 95)
        let exif = WebPRowDecoderTests.chunk("EXIF", TestExif.bytes(orientation: UInt8(orientation.rawValue)))
        let file = WebPRowDecoderTests.extended(webp, flags: 0x08, width: 320, height: 240, after: exif)
        let options = DecodeOptions(target: .fit(PixelSize(width: width, height: 260 - width)))
        let result = try decode(file, options: options).pixels
        let upright = try decode(webp).pixels.turned(orientation).encoded(as: .png)
        let reference = try decode(upright, options: options).pixels
        #expect(result.size == reference.size)
        let difference = zip(result.bytes, reference.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(Double(difference) / Double(reference.bytes.count) < 6)
    }

    /// The last block of a row has 7 columns that are not part of the image, which repeat the black one.
    @Test func jpegPixelsBeyondTheEdgeHaveNoPartInTheResult() throws {
        let size = PixelSize(width: 1_001, height: 16)
        let row = [UInt8](repeating: 255, count: 1_000 * 4) + [0, 0, 0, 255]
        let image = try #require(PixelBuffer(size: size, bytes: Array([[UInt8]](repeating: row, count: 16).joined())))
        let options = DecodeOptions(target: .fit(PixelSize(width: 84, height: 84)))
        let file = try image.encoded(as: .jpeg, quality: 95)
        let reduced = try StreamingDecoder.decode(file.span, options: options).pixels
        let original = try image.encoded(as: .png)
        let exact = try StreamingDecoder.decode(original.span, options: options).pixels
        #expect(reduced.size == PixelSize(width: 84, height: 1) && exact.size == reduced.size)
        #expect(abs(Int(reduced.bytes[83 * 4]) - Int(exact.bytes[83 * 4])) < 20)
    }

    @Test func shorterSideScalesTheWholeImage() throws {
        let image = TestImage.photo(97, 60)
        let result = try decode(image.encoded(as: .png), options: DecodeOptions(target: .shorterSide(24)))
        #expect(result.pixels.size == PixelSize(width: 39, height: 24))
        let reference = ReferenceScaler().scale(image, to: result.pixels.size)
        #expect(zip(result.pixels.bytes, reference).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    }

    @Test func optionsCanDependOnTheHeader() throws {
        let file = try TestImage.photo(640, 480).encoded(as: .jpeg)
        let options = DecodeOptions(target: .shorterSide(60))
        let decoder = StreamingDecoder()
        // Before the header, with it, and, without effect, during the decode.
        try decoder.replaceOptions(DecodeOptions(target: .maximumSide(7)))
        try append(file, 0..<file.count / 2, to: decoder)
        #expect(decoder.plan?.outputSize == PixelSize(width: 7, height: 5))
        try decoder.replaceOptions(options)
        #expect(decoder.plan?.outputSize == PixelSize(width: 80, height: 60))
        // The codec scales: less memory.
        #expect(decoder.plan?.rowSize == PixelSize(width: 160, height: 120))
        try decoder.begin()
        try decoder.replaceOptions(DecodeOptions())
        try append(file, file.count / 2..<file.count, to: decoder)
        #expect(try decoder.finish() == decode(file, options: options))
    }

    @Test func replacedOptionsAreHeldToTheLimits() throws {
        let decoder = StreamingDecoder()
        try append(TestImage.photo(20, 10).encoded(as: .png), to: decoder)
        let limit = CodecError.overLimit(.side, value: 140_000, limit: 65_535)
        #expect(throws: limit) {
            try decoder.replaceOptions(DecodeOptions(target: .shorterSide(70_000), allowsUpscaling: true))
        }
        #expect(throws: limit) { try decoder.finish() }
    }

    @Test(arguments: ImageOrientation.allCases)
    func lateOrientationDoesNotChangeTheTargetSize(orientation: ImageOrientation) throws {
        let image = try TestImages.photo(width: 96, height: 60)
        let file = WebPRowDecoderTests.extended(
            try image.encoded(as: .webp, quality: 95), flags: 0x08, width: 96, height: 60,
            after: WebPRowDecoderTests.chunk("EXIF", TestExif.bytes(orientation: UInt8(orientation.rawValue))))
        let upright = image.turned(orientation)
        let targets = [(90, 20), (20, 90)].flatMap { width, height in
            let box = PixelSize(width: width, height: height)
            return [DecodeOptions.Target.fit(box), .fill(box)]
        }
        for target in targets {
            let options = DecodeOptions(target: target)
            let result = try decode(file, options: options)
            let plan = ScalePlan(of: upright.size, orientation: .up, options: options)
            #expect(result.pixels.size == plan.scaledSize, "\(target)")
            #expect(result.originalSize == upright.size && result.visibleSize == plan.region.size)
            guard plan.scaledSize == result.pixels.size else { continue }
            let reference = ReferenceScaler().scale(upright, region: plan.region, to: plan.scaledSize)
            let difference = zip(result.pixels.bytes, reference).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            // With an odd margin, the center can be one pixel to the left or right.
            #expect(difference < reference.count * 5, "\(target)")
        }
    }

    private static let lateTargets: [DecodeOptions] =
        targets.map { DecodeOptions(target: $0) } + [
            DecodeOptions(target: .fit(PixelSize(width: 90, height: .max)), allowsUpscaling: true),
            DecodeOptions(target: .fit(PixelSize(width: 20, height: 300)), allowsUpscaling: true),
            DecodeOptions(target: .fit(PixelSize(width: 3, height: 200))),
            DecodeOptions(target: .fill(PixelSize(width: 40, height: 3))),
            DecodeOptions(target: .shorterSide(60), allowsUpscaling: true),
            DecodeOptions(target: .maximumSide(300), allowsUpscaling: true, pixelFormat: .rgba16),
        ]

    /// In a PNG, the orientation can follow the pixels without having been announced.
    @Test(arguments: lateTargets, ImageOrientation.allCases)
    func lateOrientationIsAppliedToTheResult(options: DecodeOptions, orientation: ImageOrientation) throws {
        for image in [TestImage.photo(200, 3), TestImage.photo(30, 40)] {
            let file = try TestPNG.file(of: image, orientation: orientation, isLate: true)
            let early = try decode(TestPNG.file(of: image, orientation: orientation), options: options)
            for step in [file.count, 7] { #expect(try decode(file, options: options) { step } == early) }
        }
    }

    /// Otherwise every PNG would require twice as much memory.
    @Test func lateOrientationAddsNoMemoryToEstimate() throws {
        func bytes(_ options: DecodeOptions) throws -> Int {
            let decoder = StreamingDecoder(options: options)
            try append(TestPNG.file(of: TestImage.photo(200, 100), orientation: .right, isLate: true), to: decoder)
            return try #require(decoder.plan?.estimatedBytes)
        }
        for target in [DecodeOptions.Target.original, .maximumSide(50), .fit(PixelSize(width: 50, height: 50))] {
            let upright = DecodeOptions(target: target, ignoresOrientation: true)
            #expect(try bytes(DecodeOptions(target: target)) == bytes(upright))
        }
        // It is scaled to two sizes.
        let box = DecodeOptions.Target.fit(PixelSize(width: 50, height: 100))
        #expect(
            try bytes(DecodeOptions(target: box)) >= bytes(DecodeOptions(target: box, ignoresOrientation: true))
                + 50 * 100 * 4)
    }

    @Test(arguments: EncodeOptions.formats)
    func fillCropsSmallImagesWithoutScaling(format: ImageFormat) throws {
        let file = try TestImage.photo(64, 40).encoded(as: format)
        let whole = try decode(file).pixels
        let result = try decode(file, options: fill(50, 50))
        #expect(result.pixels.size == PixelSize(width: 40, height: 40))
        #expect(result.wasCropped && !result.wasScaled)
        for place in [(0, 0), (39, 0), (0, 39), (21, 17)] {
            #expect(result.pixels[place.0, place.1] == whole[place.0 + 12, place.1])
        }
    }

    @Test func imagesAreEnlargedOnlyOnRequest() throws {
        let file = try TestImage.photo(20, 10).encoded(as: .png)
        var options = DecodeOptions(target: .maximumSide(50))
        let same = try decode(file, options: options)
        #expect(same.pixels.size == PixelSize(width: 20, height: 10))
        #expect(!same.wasScaled && !same.wasCropped)
        options.allowsUpscaling = true
        let large = try decode(file, options: options)
        #expect(large.pixels.size == PixelSize(width: 50, height: 25))
        #expect(large.wasScaled && !large.wasCropped && large.originalSize == same.pixels.size)
    }

    @Test func enlargedImagesAreHeldToTheLimits() throws {
        let file = try TestImage.photo(20, 10).encoded(as: .png)
        let options = DecodeOptions(target: .maximumSide(.max), allowsUpscaling: true)
        #expect(throws: CodecError.overLimit(.side, value: 1 << 24, limit: 65_535)) {
            try decode(file, options: options)
        }
        var limits = DecodeLimits()
        limits.maximumSide = .max
        #expect(throws: CodecError.overLimit(.pixels, value: 1 << 47, limit: limits.maximumPixels)) {
            try decode(file, options: options, limits: limits)
        }
    }

    @Test func croppedPixelsAddNoMemoryToEstimate() throws {
        let file = try TestImage.photo(640, 480).encoded(as: .png)
        let decoder = StreamingDecoder(options: fill(40, 400))
        try append(file, to: decoder)
        let plan = try #require(decoder.plan)
        #expect(plan.outputSize == PixelSize(width: 40, height: 400))
        #expect(plan.visibleSize == PixelSize(width: 48, height: 480))
        #expect(plan.rowSize == plan.storedSize)
    }
}

extension PixelSize {
    fileprivate func scaled(by factor: Int) -> PixelSize { PixelSize(width: width * factor, height: height * factor) }
}

extension TestPNG {
    /// Returns `image` without its alpha, with an `eXIf` chunk, which can follow the pixels.
    fileprivate static func file(
        of image: PixelBuffer, orientation: ImageOrientation = .up, isLate: Bool = false
    ) throws -> [UInt8] {
        let exif = [chunk("eXIf", TestExif.bytes(orientation: UInt8(orientation.rawValue)))]
        let png = TestPNG(before: isLate ? [] : exif, after: isLate ? exif : [])
        return png.file(
            Image(width: image.width, height: image.height, depth: 8, colorType: 2, samples: image.rgb.map(Int.init)))
    }
}
