import ImageCodecs
import ImageEncoders
import ImageTestSupport
import Testing

/// The optional features of custom formats, and their effects.
struct CustomFormatFeaturesTests {
    private let photo = TestImage.photo(40, 30)

    /// Returns a format whose file decodes to `image`.
    private func format(_ image: PixelBuffer) -> TestFormat {
        TestFormat(
            header: ImageHeader(format: TestFormat.name, size: image.size), begin: TestFormat.rows(image))
    }

    @Test(arguments: ImageOrientation.allCases)
    func customFormatImagesAreOrientedByTheHeader(orientation: ImageOrientation) throws {
        var format = format(photo)
        format.header?.orientation = orientation
        let jpeg = try TestExif.inserted(into: photo.encoded(as: .jpeg, quality: 100), orientation)
        let stored = try decode(jpeg, options: DecodeOptions(ignoresOrientation: true)).pixels
        format.begin = TestFormat.rows(stored)
        #expect(try format.decoded().pixels == decode(jpeg).pixels)
        let options = DecodeOptions(target: .fill(PixelSize(width: 10, height: 20)))
        #expect(try format.decoded(options).pixels.size == PixelSize(width: 10, height: 20))
    }

    @Test func customFormatColorsAreConvertedByTheProfile() throws {
        let profile = TestProfile.primaries(ReferenceColors.displayP3, .sRGB)
        var format = format(photo)
        format.profile = profile
        let png = TestTagged.png(photo, chunks: [TestTagged.iccp(profile)])
        let image = try format.decoded()
        #expect(image.pixels == (try decode(png).pixels) && image.pixels != photo)
        #expect(image.header.colorConversion == .converted)
        #expect(image.header.colorProfile == "test")
        let kept = try format.decoded(DecodeOptions(keepsProfile: true))
        #expect(kept.pixels == photo && kept.iccProfile == profile)
    }

    @Test(arguments: [TestProfile.cmyk(), [1, 2, 3], [UInt8](repeating: 7, count: 5 << 20)])
    func unsuitableProfilesOfCustomFormatsAreIgnored(profile: [UInt8]) throws {
        var format = format(photo)
        format.profile = profile
        format.header?.colorChannels = 4
        let image = try format.decoded()
        #expect(image.pixels == photo)
        #expect(image.header.colorConversion == .unsupported)
    }

    @Test func customFormatRowsMayHave16Bits() throws {
        let samples: [UInt16] = [0, 128, 129, 65_535, 257, 30_000, 65_407, 65_406]
        var header = ImageHeader(format: TestFormat.name, size: PixelSize(width: 2, height: 2))
        header.hasAlpha = true
        header.bitsPerChannel = 16
        let format = TestFormat(header: header) { rows throws(CodecError) in
            try rows.append(samples.span)
            try rows.append(([1, 2, 3, 4, 5, 6, 7, 8] as [UInt8]).span)
        }
        #expect(
            try format.decoded().pixels.bytes == [0, 0, 1, 255, 1, 117, 255, 254, 1, 2, 3, 4, 5, 6, 7, 8])
        let rgba16 = try format.decoded(DecodeOptions(pixelFormat: .rgba16)).pixels.bytes
        let stored = stride(from: 0, to: rgba16.count, by: 2).map { UInt16(rgba16[$0]) | UInt16(rgba16[$0 + 1]) << 8 }
        #expect(stored == samples + (1...8).map { $0 * 257 })
    }

    @Test func customFormatMayDecodeToASmallerSize() throws {
        var format = format(photo)
        format.header?.size = PixelSize(width: 400, height: 300)
        format.rowSize = photo.size
        #expect(try format.decoded(DecodeOptions(target: .maximumSide(40))).pixels == photo)
        let png = try photo.encoded(as: .png)
        let options = DecodeOptions(target: .maximumSide(20))
        #expect(try format.decoded(options).pixels == decode(png, options: options).pixels)
    }

    @Test func customFormatPreviewsOfScansAreRendered() throws {
        var format = TestFormat(finish: TestFormat.rows(8, sample: 9))
        format.previewScan = 2
        format.preview = TestFormat.rows(8)
        let decoder = StreamingDecoder(customFormats: [format])
        try append(TestFormat.file, to: decoder)
        try decoder.begin()
        let preview = try #require(try decoder.preview())
        #expect(preview.scan == 2 && preview.completeRows == 8)
        #expect(preview.pixels.bytes.allSatisfy { $0 == 200 })
        #expect(try decoder.finish().pixels.bytes.allSatisfy { $0 == 9 })
    }

    @Test func customDecoderSalvagesRowsAfterDamage() throws {
        var format = TestFormat()
        format.begin = { rows throws(CodecError) in
            try TestFormat.rows(3)(&rows)
            throw .corrupt(TestFormat.name, "nonsense")
        }
        format.salvage = TestFormat.rows(2)
        #expect(throws: CodecError.corrupt(TestFormat.name, "nonsense")) { try format.decoded() }
        let image = try format.decoded(DecodeOptions(allowsPartial: true))
        #expect(image.isPartial && image.completeRows == 5)
    }

    @Test func customFormatMemoryIsCounted() throws {
        func bytes(_ working: Int) throws -> Int {
            let decoder = StreamingDecoder(customFormats: [TestFormat(workingBytes: working)])
            try append(TestFormat.file, to: decoder)
            return try #require(decoder.plan?.estimatedBytes)
        }
        #expect(try bytes(5_000) == bytes(0) + 5_000)
        #expect(try bytes(-5_000) == bytes(0))
        #expect(throws: CodecError.self) { try bytes(.max) }
    }

    @Test func builtInFormatsComeBeforeCustomOnesInTheirOrder() throws {
        let greedy = TestFormat(signature: [], begin: TestFormat.rows(8))
        let png = try photo.encoded(as: .png)
        #expect(try StreamingDecoder.decode(png.span, customFormats: [greedy]).pixels == photo)
        var second = greedy
        second.header?.size = PixelSize(width: 2, height: 1)
        let file = TestFormat.file
        let header = try ImageHeader.probe(file.span, customFormats: [greedy, second])
        #expect(header?.size == PixelSize(width: 4, height: 8))
    }

    @Test(arguments: [1, 11, 50, 150, .max])
    func firstCustomFormatThatRecognizesAFileIsUsed(piece: Int) throws {
        // One format recognizes the last bytes of a beginning, which arrive late, the other one the first bytes.
        let patient = TestFormat(signatureLength: 200, begin: TestFormat.rows(8))
        var quick = TestFormat(signature: [32, 32, 32, 32], begin: TestFormat.rows(1, of: 2))
        quick.header?.size = PixelSize(width: 2, height: 1)
        let both = [UInt8](repeating: 32, count: 196) + Array("TEST".utf8) + [1, 2, 3]
        func size(_ file: [UInt8], _ formats: [TestFormat]) throws -> PixelSize {
            let decoder = StreamingDecoder(customFormats: formats)
            var animation = StreamingAnimation(customFormats: formats)
            for start in stride(from: 0, to: file.count, by: piece) {
                let range = start..<start + min(piece, file.count - start)
                try append(file, range, to: decoder)
                try animation.append(file.span.extracting(range))
                if decoder.plan != nil { try decoder.begin() }
            }
            let size = try decoder.finish().header.size
            #expect(try animation.finish().size == size)
            #expect(try AnimatedImage(file, customFormats: formats).size == size)
            return size
        }
        #expect(try size(both, [patient, quick]) == PixelSize(width: 4, height: 8))
        #expect(try size(both, [quick, patient]) == PixelSize(width: 2, height: 1))
        // At the end of the file it is clear that the first format does not recognize it.
        let short = [UInt8](repeating: 32, count: 100)
        #expect(try size(short, [patient, quick]) == PixelSize(width: 2, height: 1))
        #expect(try ImageHeader.probe(short.span, customFormats: [patient, quick]) == nil)
    }

    @Test func decoderWaitsForLongCustomSignature() throws {
        // The format recognizes the last bytes of a beginning.
        let file = [UInt8](repeating: 32, count: 196) + Array("TEST".utf8) + [1, 2, 3]
        let format = TestFormat(signatureLength: 200, begin: TestFormat.rows(8))
        for piece in [1, 50, 300] {
            let decoder = StreamingDecoder(customFormats: [format])
            for start in stride(from: 0, to: file.count, by: piece) {
                try append(file, start..<min(start + piece, file.count), to: decoder)
            }
            #expect(try decoder.finish().header.format == TestFormat.name)
        }
        let decoder = StreamingDecoder(customFormats: [format])
        try append(file, 0..<195, to: decoder)
        #expect(throws: CodecError.self) { try append([UInt8](repeating: 32, count: 5), to: decoder) }
    }

    @Test func customFormatCanHaveTheNameOfABuiltInFormat() throws {
        let format = TestFormat(format: .jpeg, begin: TestFormat.rows(8))
        let image = try format.decoded()
        #expect(image.header.format == .jpeg)
        #expect(image.pixels.bytes.allSatisfy { $0 == 200 })
        #expect(ImageFormat(name: "JPEG", mediaType: "image/jpeg", fileExtension: "jpg") != .jpeg)
    }
}
