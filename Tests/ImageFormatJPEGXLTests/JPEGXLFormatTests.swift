#if JPEGXL
import ImageCodecs
import ImageEncoders
import ImageFormatJPEGXL
import ImageTestSupport
import Testing

@Suite(.enabled(if: TestJPEGXL.hasTools, "needs cjxl, djxl, and cjpeg"))
struct JPEGXLFormatTests {
    private static let formats: [any CustomFormat] = [JPEGXLAnimationFormat(), JPEGXLFormat()]

    private func decode(
        _ file: [UInt8], _ options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> DecodedImage {
        try StreamingDecoder.decode(file.span, options: options, limits: limits, customFormats: Self.formats)
    }

    /// Returns the largest difference of a channel.
    private func difference(_ first: PixelBuffer, _ second: PixelBuffer) -> Int {
        guard first.bytes.count == second.bytes.count else { return .max }
        return zip(first.bytes, second.bytes).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    @Test(
        arguments: [
            ["-d", "0"], ["-d", "1"], ["-d", "3", "-p"], ["-m", "1", "-d", "1"], ["-d", "0", "-p"],
            ["-d", "1", "--container=1"],
        ], [true, false])
    func pixelsAreThoseOfDjxl(options: [String], isOpaque: Bool) throws {
        let image = try TestImages.photo(width: 145, height: 70, hasAlpha: !isOpaque)
        let file = try TestJPEGXL.file(image, options)
        let decoded = try decode(file)
        // Colors of transparent pixels can differ, and lossy ones are rounded.
        #expect(try difference(decoded.pixels, TestJPEGXL.reference(file)) <= (options[1] == "0" ? 0 : 1))
        #expect(decoded.header.format == .jpegXL && decoded.header.frameCount == 1)
        #expect(decoded.header.hasAlpha == !isOpaque)
    }

    @Test func deepAndGrayPixelsAreThoseOfDjxl() throws {
        let bytes = (0..<19 * 17 * 8).map { UInt8(truncatingIfNeeded: $0 % 8 > 5 ? 255 : $0 &* 37 &+ $0 / 8) }
        let deep = try PixelBuffer(size: PixelSize(width: 19, height: 17), bytes: bytes, format: .rgba16).unwrapped()
        let file = try TestJPEGXL.file(deep, ["-d", "0"])
        let decoded = try decode(file, DecodeOptions(pixelFormat: .rgba16))
        #expect(try decoded.pixels == TestJPEGXL.reference(file, .rgba16))
        #expect(decoded.header.bitsPerChannel == 16)
        var values: [UInt8] = []
        for value in 0..<200 as Range<UInt8> { values += [value, value, value, 255] }
        let gray = try PixelBuffer(size: PixelSize(width: 20, height: 10), bytes: values).unwrapped()
        #expect(try decode(TestJPEGXL.file(gray, ["-d", "0"])).pixels == gray)
    }

    @Test(arguments: [("PeQ", 16), ("HLG", 18)], ["RGB_D65_202_Rel", "Gra_D65_Rel"])
    func highDynamicRangeIsBroughtIntoThatOfSRGB(curve: (name: String, code: Int), colors: String) throws {
        var image = TestImage.gray(64, 48)
        // Otherwise, the file would be gray.
        if colors.hasPrefix("RGB") { image.bytes[0] = 255 }
        let profile = try #require(CodedColors.profile(primaries: 9, transfer: curve.code))
        let expected = try decode(image.encoded(with: .png(), metadata: ImageMetadata(colorProfile: profile)))
        func decoded(_ distance: String) throws -> DecodedImage {
            try decode(TestJPEGXL.file(image, ["-d", distance, "-x", "color_space=\(colors)_\(curve.name)"]))
        }
        let lossless = try decoded("0")
        #expect(difference(lossless.pixels, expected.pixels) <= 1)
        #expect(lossless.header.colorConversion == .converted)
        // The pixels of a lossy file are in the color space of the codec.
        let differences = try zip(decoded("0.5").pixels.bytes, expected.pixels.bytes).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) < 3 * differences.count)
    }

    @Test func fileIsDecodedHoweverItArrives() throws {
        let image = try TestImages.photo(width: 19, height: 17, hasAlpha: true)
        for container in ["0", "1"] {
            let file = try TestJPEGXL.file(image, ["-d", "0", "--container=\(container)"])
            let deliveries = (1..<file.count).map { [0..<$0, $0..<file.count] } + [file.indices.map { $0..<$0 + 1 }]
            for pieces in deliveries {
                let decoder = StreamingDecoder(customFormats: Self.formats)
                for piece in pieces { try append(file, piece, to: decoder) }
                #expect(try decoder.finish().pixels == image)
            }
        }
    }

    @Test func previewsShowThePassesAndDoNotChangeTheImage() throws {
        let image = TestImage.photo(600, 400)
        let file = try TestJPEGXL.file(image, ["-d", "1", "-p"])
        let whole = try decode(file).pixels
        let decoder = StreamingDecoder(customFormats: Self.formats)
        var errors: [Int] = []
        for start in stride(from: 0, to: file.count, by: 1_000) {
            try decoder.append(file.span.extracting(start..<min(start + 1_000, file.count)))
            guard decoder.plan != nil else { continue }
            try decoder.begin()
            guard let preview = try decoder.preview(), preview.scan != nil else { continue }
            errors.append(zip(preview.pixels.bytes, whole.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) })
        }
        #expect(try decoder.finish().pixels == whole)
        let (first, last) = try (errors.first.unwrapped(), errors.last.unwrapped())
        #expect(errors.count > 1 && last <= first && first < whole.bytes.count * 40)
    }

    @Test func passesThatArrivedAreThePartialImage() throws {
        let file = try TestJPEGXL.file(TestImage.photo(600, 400), ["-d", "1", "-p"])
        let cut = Array(file.prefix(file.count * 3 / 4))
        #expect(throws: CodecError.truncated(.jpegXL)) { try decode(cut) }
        let partial = try decode(cut, DecodeOptions(allowsPartial: true))
        #expect(partial.isPartial && partial.completeRows == 400)
    }

    @Test(arguments: ImageOrientation.allCases) func orientationIsApplied(orientation: ImageOrientation) throws {
        let jpeg = try TestImage.photo(24, 16).encoded(
            with: .jpeg(), metadata: ImageMetadata(exif: TestExif.bytes(orientation: UInt8(orientation.rawValue))))
        let file = try TestJPEGXL.file(jpeg: jpeg)
        let decoded = try decode(file)
        #expect(decoded.header.orientation == orientation)
        #expect(try difference(decoded.pixels, TestJPEGXL.reference(file)) <= 1)
        #expect(ImageMetadata(file: file.span, customFormats: Self.formats).exif != nil)
    }

    @Test func animationIsDecodedInAnyOrder() throws {
        let file = try TestJPEGXL.file(animation: TestImages.wanderingSquare(5), delay: .milliseconds(120))
        let frames = try TestJPEGXL.referenceFrames(file)
        #expect(frames.count == 5 && Set(frames.map(\.bytes)).count == 5)
        let image = try AnimatedImage(file, customFormats: Self.formats)
        #expect(image.frameCount == 5 && image.header.frameCount == 5)
        #expect(image.delays == Array(repeating: .milliseconds(120), count: 5))
        let decoder = AnimationDecoder(image, windowBytes: 0)
        for index in [0, 1, 4, 2, 0, 3] { #expect(try decoder.frame(at: index) == frames[index], "frame \(index)") }
        #expect(try ImageVerifier.verify(file.span, customFormats: Self.formats).frameCount == 5)
        #expect(try decode(file).pixels == frames[0])
        #expect(throws: CodecError.overLimit(.frames, value: 5, limit: 4)) {
            try AnimatedImage(file, limits: DecodeLimits(maximumFrames: 4), customFormats: Self.formats)
        }
        // Without the other format, the first frame is the image.
        let still = try StreamingDecoder.decode(file.span, customFormats: [JPEGXLFormat()])
        #expect(still.pixels == frames[0] && still.header.frameCount == 1)
    }

    @Test(arguments: [(["-d", "1"], 12), (["-d", "1", "--progressive_dc=1"], 50), (["-d", "0"], 34)])
    func memoryIsThatOfTheFirstFrame(options: [String], bytesPerPixel: Int) throws {
        let image = TestImage.photo(600, 400)
        let header = try decode(TestJPEGXL.file(image, options)).header
        let bytes = JPEGXLFormat().workingBytes(of: header, rowSize: image.size)
        #expect(bytes == bytesPerPixel * image.size.area + 8 << 20)
    }

    @Test func limitsAreCheckedBeforeDecoding() throws {
        let file = try TestImage.photo(40, 30).encoded(with: .jpegXL())
        #expect(throws: CodecError.overLimit(.pixels, value: 1_200, limit: 1_199)) {
            try decode(file, limits: DecodeLimits(maximumPixels: 1_199))
        }
        #expect(throws: CodecError.overLimit(.side, value: 40, limit: 39)) {
            try decode(file, limits: DecodeLimits(maximumSide: 39))
        }
    }

    @Test func layersThatExceedTheImageAreAnErrorHoweverTheyArrive() throws {
        let error = CodecError.unsupportedFeature(.jpegXL, "layers larger than the image")
        let file = TestJPEGXL.layerOf1100x1000
        #expect(throws: error) { try decode(file) }
        #expect(throws: error) {
            let decoder = StreamingDecoder(customFormats: Self.formats)
            for index in file.indices { try append(file, index..<index + 1, to: decoder) }
            _ = try decoder.finish()
        }
        let animation = TestJPEGXL.animatedLayerOf1100x1000
        #expect(throws: error) { try AnimatedImage(animation, customFormats: Self.formats) }
        // The first frame, in which there is no such layer.
        let still = try StreamingDecoder.decode(animation.span, customFormats: [JPEGXLFormat()])
        #expect(still.pixels.size == PixelSize(width: 16, height: 16))
    }

    @Test func layersAreCombined() throws {
        for file in [TestJPEGXL.layerOf200x200, TestJPEGXL.progressiveLayer] {
            #expect(try difference(decode(file).pixels, TestJPEGXL.reference(file)) <= 1)
        }
    }

    @Test func passesOfLayersBelowTheImageAreNoPreviews() throws {
        let file = TestJPEGXL.progressiveLayer
        let decoder = StreamingDecoder(customFormats: Self.formats)
        for index in file.indices.dropLast() {
            try append(file, index..<index + 1, to: decoder)
            guard decoder.plan != nil else { continue }
            try decoder.begin()
            #expect(try decoder.preview()?.scan == nil, "\(index + 1) bytes")
        }
    }

    @Test func truncatedFileIsAnError() throws {
        let image = TestImage.photo(20, 10)
        for file in [
            try TestJPEGXL.file(image, ["-d", "0"]), try TestJPEGXL.file(image, ["-d", "1", "--container=1"]),
            try TestJPEGXL.file(animation: TestImages.wanderingSquare(3), delay: .milliseconds(100)),
        ] {
            for count in 0..<file.count - 1 {
                let cut = Array(file.prefix(count))
                #expect(throws: CodecError.self, "\(count) bytes") {
                    try AnimatedImage(cut, customFormats: Self.formats).allFrames()
                }
            }
        }
    }

    @Test func damagedFileGivesAnErrorOrAnImage() throws {
        let limits = DecodeLimits(maximumPixels: 1 << 16, maximumFrames: 20, maximumWork: 1 << 19)
        let image = try TestImages.photo(width: 20, height: 10, hasAlpha: true)
        for file in [
            try TestJPEGXL.file(image, ["-d", "0"]), try TestJPEGXL.file(image, ["-d", "1", "--container=1"]),
            try TestJPEGXL.file(animation: TestImages.wanderingSquare(3), delay: .milliseconds(100)),
        ] {
            for seed in 0..<200 as Range<UInt64> {
                var random = SeededGenerator(seed: seed)
                var damaged = file
                for _ in 0...seed % 3 {
                    damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                guard let image = try? AnimatedImage(damaged, limits: limits, customFormats: Self.formats) else {
                    continue
                }
                if let frames = try? image.allFrames() { #expect(frames.allSatisfy { $0.size == image.size }) }
            }
        }
    }

    @Test func decodeStopsWhenItsTaskIsCanceled() async throws {
        let file = try TestImage.photo(20, 10).encoded(with: .jpegXL())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try StreamingDecoder.decode(file.span, customFormats: Self.formats)
        }
        let result = await task.result
        #expect(throws: CodecError.cancelled(.jpegXL)) { try result.get() }
    }
}
#endif
