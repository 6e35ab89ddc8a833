import ImageCodecs
import ImageEncoders
import ImageTestSupport
import QOI
import Testing

/// A custom format, implemented with the public API only.
struct CustomFormatTests {
    private static let formats: [any CustomFormat] = [QOIFormat()]
    private let picture: PixelBuffer

    init() throws {
        picture = try TestImages.photo(width: 90, height: 70, hasAlpha: true)
    }

    private func decode(
        _ file: [UInt8], _ options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits(),
        piece: Int = .max
    ) throws(CodecError) -> DecodedImage {
        let decoder = StreamingDecoder(options: options, limits: limits, customFormats: Self.formats)
        for start in stride(from: 0, to: file.count, by: piece) {
            try append(file, start..<start + min(piece, file.count - start), to: decoder)
            if decoder.plan != nil { try decoder.begin() }
        }
        return try decoder.finish()
    }

    /// Handwritten after the specification: QOI_OP_RGB, QOI_OP_DIFF, QOI_OP_LUMA, QOI_OP_RUN, QOI_OP_RGBA, and
    /// QOI_OP_INDEX.
    @Test func everyQOIOperationIsDecoded() throws {
        let operations: [UInt8] = [
            0xFE, 16, 32, 48, 0x76, 0xAA, 0xB4, 0xC1, 0xFF, 1, 2, 3, 4, 0x15, 0x40,
        ]
        let file = Array("qoif".utf8) + [0, 0, 0, 4, 0, 0, 0, 2, 4, 0] + operations + [0, 0, 0, 0, 0, 0, 0, 1]
        let expected: [UInt8] = [
            16, 32, 48, 255, 17, 31, 48, 255, 30, 41, 54, 255, 30, 41, 54, 255,
            30, 41, 54, 255, 1, 2, 3, 4, 16, 32, 48, 255, 14, 30, 46, 255,
        ]
        #expect(try decode(file).pixels.bytes == expected)
    }

    @Test(arguments: [1, 13, .max])
    func decodedQOIPixelsAreExact(piece: Int) throws {
        for image in [
            picture, TestImage.gray(1, 300), TestImage.noise(33, 9, seed: 4, isOpaque: false),
            TestImage.noise(300, 1, seed: 5, isOpaque: true),
        ] {
            let decoded = try decode(image.qoi(), piece: piece)
            #expect(decoded.pixels == image)
            #expect(decoded.header.format == QOIFormat().format)
            #expect(decoded.header.size == image.size)
        }
    }

    @Test(arguments: [
        DecodeOptions(target: .maximumSide(31)), DecodeOptions(target: .fill(PixelSize(width: 20, height: 40))),
        DecodeOptions(target: .maximumSide(200), allowsUpscaling: true),
        DecodeOptions(target: .fit(PixelSize(width: 30, height: 30)), resampling: Resampling(usesLinearLight: true)),
        DecodeOptions(target: .maximumSide(31), pixelFormat: .bgra8Premultiplied), DecodeOptions(pixelFormat: .rgba16),
    ])
    func customFormatResultEqualsPNG(options: DecodeOptions) throws {
        let file = try picture.encoded(as: .png)
        let png = try StreamingDecoder.decode(file.span, options: options)
        let image = try decode(picture.qoi(), options, piece: 100)
        #expect(image.pixels == png.pixels)
        #expect(image.originalSize == png.originalSize && image.visibleSize == png.visibleSize)
    }

    @Test func qoiHeaderIsFoundInTheFirst14Bytes() throws {
        let file = picture.qoi()
        #expect(try ImageHeader.probe(file.span.extracting(first: 13), customFormats: Self.formats) == nil)
        let header = try ImageHeader.probe(file.span.extracting(first: 14), customFormats: Self.formats)
        #expect(header?.format.identifier == "qoi")
        #expect(header?.size == picture.size)
        #expect(header?.hasAlpha == true)
        #expect(header?.frameCount == 1)
    }

    @Test func limitsOfCustomFormatsAreCheckedBeforeDecoding() throws {
        let beginning = Array(picture.qoi().prefix(14))
        func error(_ limits: DecodeLimits) -> CodecError? {
            #expect(throws: CodecError.self) {
                try append(beginning, to: StreamingDecoder(limits: limits, customFormats: Self.formats))
            }
        }
        #expect(error(DecodeLimits(maximumPixels: 6_299)) == .overLimit(.pixels, value: 6_300, limit: 6_299))
        #expect(error(DecodeLimits(maximumSide: 89)) == .overLimit(.side, value: 90, limit: 89))
        #expect(error(DecodeLimits(maximumBytes: 13)) == .overLimit(.bytes, value: 14, limit: 13))
        #expect(error(DecodeLimits(maximumHeaderBytes: 13)) == .overLimit(.headerBytes, value: 14, limit: 13))
    }

    @Test func truncatedQOIKeepsItsRowsIfAllowed() throws {
        let file = Array(picture.qoi().dropLast(2_000))
        let qoi = QOIFormat().format
        #expect(throws: CodecError.truncated(qoi)) { try decode(file) }
        let image = try decode(file, DecodeOptions(allowsPartial: true), piece: 50)
        #expect(image.isPartial)
        #expect(image.completeRows > 5 && image.completeRows < 70)
        let complete = image.completeRows * picture.rowBytes
        #expect(image.pixels.bytes[..<complete] == picture.bytes[..<complete])
        #expect(image.pixels.bytes[complete...].allSatisfy { $0 == 0 })
        for count in [12, 13] {
            #expect(throws: CodecError.truncated(qoi)) { try decode(Array(file.prefix(count))) }
        }
    }

    @Test func damagedQOIGivesAnErrorOrAnImage() throws {
        let file = TestImage.noise(12, 9, seed: 3, isOpaque: false).qoi()
        for offset in file.indices {
            for bit in [0, 3, 7] {
                var damaged = file
                damaged[offset] ^= 1 << bit
                let image = try? decode(damaged, limits: DecodeLimits(maximumPixels: 1 << 16))
                if let image { #expect(image.pixels.bytes.count == image.pixels.size.area * 4) }
            }
        }
    }

    @Test func customFormatPreviewShowsReceivedRows() throws {
        let file = picture.qoi()
        let decoder = StreamingDecoder(customFormats: Self.formats)
        try append(file, 0..<file.count / 2, to: decoder)
        try decoder.begin()
        let preview = try #require(try decoder.preview())
        #expect(preview.completeRows > 10 && preview.completeRows < 70)
        let complete = preview.completeRows * picture.rowBytes
        #expect(preview.pixels.bytes[..<complete] == picture.bytes[..<complete])
    }

    @Test func stillImageOfACustomFormatIsAnAnimationOfOneFrame() throws {
        let image = try AnimatedImage(picture.qoi(), customFormats: Self.formats)
        #expect(image.frameCount == 1)
        #expect(try AnimationDecoder(image).frame(at: 0) == picture)
        var animation = StreamingAnimation(customFormats: Self.formats)
        let file = picture.qoi()
        for index in file.indices { try animation.append(file.span.extracting(index...index)) }
        #expect(try AnimationDecoder(animation.finish()).frame(at: 0) == picture)
    }

    @Test func unregisteredAndUnknownFormatsAreUnsupported() throws {
        let file = picture.qoi()
        #expect(throws: CodecError.notAnImage(lookingLike: "data beginning 71 6F 69 66 00 00 00 5A")) {
            try StreamingDecoder.decode(file.span)
        }
        let svg = Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8)
        let decoder = StreamingDecoder(customFormats: Self.formats)
        #expect(throws: CodecError.unsupportedFormat("SVG")) {
            try append(svg, 0..<12, to: decoder)
        }
    }
}
