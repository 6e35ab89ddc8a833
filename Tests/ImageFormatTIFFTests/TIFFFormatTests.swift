#if TIFF
import CTIFF
import ImageCodecs
import ImageEncoders
import ImageFormatTIFF
import ImageTestSupport
import Testing

struct TIFFFormatTests {
    private static let formats: [any CustomFormat] = [TIFFFormat()]

    private func decode(
        _ file: [UInt8], _ options: DecodeOptions = DecodeOptions(), limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> DecodedImage {
        try StreamingDecoder.decode(file.span, options: options, limits: limits, customFormats: Self.formats)
    }

    /// Returns the pixels of a file that may be damaged.
    private func pixels(_ file: [UInt8], limits: DecodeLimits = DecodeLimits()) -> PixelBuffer? {
        do {
            return try decode(file, limits: limits).pixels
        } catch {
            return nil
        }
    }

    @Test(
        arguments: [
            COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE, COMPRESSION_PACKBITS,
            COMPRESSION_JPEG, COMPRESSION_LZMA, COMPRESSION_ZSTD, COMPRESSION_WEBP,
        ], TestTIFF.Layout.allCases)
    func pixelsAreThoseOfLibtiff(compression: Int32, layout: TestTIFF.Layout) throws {
        // libtiff's WebP has no planes.
        guard compression != COMPRESSION_WEBP || !layout.isPlanar else { return }
        var test = TestTIFF(compression: compression)
        test.arrange(layout)
        for mode in ["wl", "wb", "w8"] {
            test.mode = mode
            let file = try test.file()
            let image = try decode(file)
            #expect(try image.pixels.bytes == TestTIFF.reference(file), "\(mode)")
            #expect(image.header.format == .tiff && !image.header.hasAlpha && image.header.frameCount == 1)
        }
    }

    @Test(arguments: [1, 2, 4, 8, 16], TestTIFF.Layout.allCases)
    func grayAndPaletteHaveAnyDepth(bits: Int, layout: TestTIFF.Layout) throws {
        for photometric in [PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_PALETTE] {
            guard photometric != PHOTOMETRIC_PALETTE || bits <= 8 else { continue }
            var test = TestTIFF(bits: bits, channels: 1, photometric: photometric, compression: COMPRESSION_LZW)
            test.arrange(layout)
            let file = try test.file()
            let image = try decode(file)
            // libtiff drops the low bits, and misplaces pixels of tiles at the right edge.
            if bits == 16 { test.tile = nil }
            let reference = try TestTIFF.reference(bits == 16 ? test.file() : file).map(Int.init)
            let error = zip(image.pixels.bytes.map(Int.init), reference).map { abs($0 - $1) }.max()
            #expect(error == 0 || error == 1 && bits == 16, "\(photometric)")
            #expect(image.header.bitsPerChannel == bits)
            #expect((image.header.colorChannels == 1) == (photometric != PHOTOMETRIC_PALETTE))
        }
    }

    @Test(arguments: [3, 10, 12, 14, 16], TestTIFF.Layout.allCases)
    func deepSamplesAreKept(bits: Int, layout: TestTIFF.Layout) throws {
        var test = TestTIFF(bits: bits)
        test.sample = { x, y, channel in x * 1_431 + y * 377 + channel * 20_000 }
        test.arrange(layout)
        let pixels = try decode(test.file(), DecodeOptions(pixelFormat: .rgba16)).pixels
        let depth = bits > 8 ? 65_535 : 255
        for (x, y, channel) in [(0, 0, 0), (44, 36, 2), (17, 3, 1), (31, 35, 0)] {
            let place = ((y * 45 + x) * 4 + channel) * 2
            let value = Int(pixels.bytes[place]) | Int(pixels.bytes[place + 1]) << 8
            let expected = test.value(x, y, channel) * depth / (1 << bits - 1) * (65_535 / depth)
            #expect(value == expected, "(\(x), \(y)), channel \(channel)")
        }
    }

    @Test(arguments: [COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4], ["wB", "wL"])
    func faxesAreDecoded(compression: Int32, mode: String) throws {
        // libtiff cannot read what it writes.
        guard compression != COMPRESSION_CCITTFAX3 || mode == "wB" else { return }
        let test = TestTIFF(
            bits: 1, channels: 1, photometric: PHOTOMETRIC_MINISWHITE, compression: compression, mode: mode)
        let file = try test.file()
        #expect(try decode(file).pixels.bytes == TestTIFF.reference(file))
    }

    @Test(arguments: TestTIFF.Layout.allCases) func inkIsConverted(layout: TestTIFF.Layout) throws {
        var test = TestTIFF(channels: 4, photometric: PHOTOMETRIC_SEPARATED, compression: COMPRESSION_LZW)
        test.arrange(layout)
        let file = try test.file()
        #expect(try decode(file).pixels.bytes == TestTIFF.reference(file))
        test.profile = TestProfile.bytes("CMYK")
        #expect(try decode(test.file()).header.colorConversion == .unsupported)
    }

    @Test(arguments: [false, true]) func otherColorsAreConvertedByLibtiff(isTiled: Bool) throws {
        let tile = isTiled ? PixelSize(width: 16, height: 16) : nil
        var files = [try TestTIFF(photometric: PHOTOMETRIC_CIELAB, tile: tile).file()]
        // JPEG with half the chroma.
        let mode = [(tag: TIFFTAG_JPEGCOLORMODE, value: UInt32(JPEGCOLORMODE_RGB))]
        let jpeg = TestTIFF(
            photometric: PHOTOMETRIC_YCBCR, compression: COMPRESSION_JPEG, rowsPerStrip: 16, tile: tile, tags: mode)
        files.append(try jpeg.file())
        for file in files { #expect(try decode(file).pixels.bytes == TestTIFF.reference(file)) }
    }

    @Test func chromaAtHalfTheSizeIsConvertedByLibtiff() throws {
        // For each block of four pixels, their luma and one sample of each chroma.
        let blocks = (0..<16 * 8 * 6).map { UInt8(truncatingIfNeeded: $0 % 6 < 4 ? $0 * 7 : 100 + $0 / 9) }
        let file = try TestTIFF(
            size: PixelSize(width: 32, height: 16), photometric: PHOTOMETRIC_YCBCR, compression: COMPRESSION_LZW,
            rowsPerStrip: 16, strip: blocks
        ).file()
        #expect(try decode(file).pixels.bytes == TestTIFF.reference(file))
    }

    @Test(arguments: [8, 16], TestTIFF.Layout.allCases) func alphaIsStraight(bits: Int, layout: TestTIFF.Layout) throws
    {
        let maximum = 1 << bits - 1
        for kind in [EXTRASAMPLE_UNASSALPHA, EXTRASAMPLE_ASSOCALPHA] {
            var test = TestTIFF(bits: bits, channels: 4, extraSample: kind)
            test.sample = { x, y, channel in
                let alpha = (x * 6) % 256 * maximum / 255
                return channel == 3 ? alpha : kind == EXTRASAMPLE_ASSOCALPHA ? alpha * y / 40 : (y * 7) * maximum / 255
            }
            test.arrange(layout)
            let image = try decode(test.file())
            #expect(image.header.hasAlpha)
            for (x, y) in [(3, 5), (20, 36), (41, 0)] {
                let pixel = image.pixels.bytes[(y * 45 + x) * 4..<(y * 45 + x) * 4 + 4].map(Int.init)
                let color = kind == EXTRASAMPLE_ASSOCALPHA ? 255 * y / 40 : y * 7
                // Premultiplied colors have been rounded.
                let error = kind == EXTRASAMPLE_ASSOCALPHA ? 255 / max(x * 6, 1) + 1 : 0
                #expect(pixel[3] == x * 6 && pixel[0...2].allSatisfy { abs($0 - color) <= error }, "\(pixel) \(color)")
            }
        }
        // Gray, too.
        let test = TestTIFF(
            channels: 2, photometric: PHOTOMETRIC_MINISBLACK, extraSample: EXTRASAMPLE_UNASSALPHA)
        let pixels = try decode(test.file()).pixels
        #expect(pixels.bytes[0..<4].elementsEqual([0, 0, 0, 70]))
    }

    @Test(arguments: ImageOrientation.allCases) func orientationIsApplied(orientation: ImageOrientation) throws {
        let test = TestTIFF(tags: [(TIFFTAG_ORIENTATION, UInt32(orientation.rawValue))])
        let image = try decode(test.file())
        #expect(image.header.orientation == orientation)
        let pixels = try decode(TestTIFF().file()).pixels
        #expect(image.pixels.size == pixels.size.upright(orientation))
        // The first stored pixel.
        let size = image.pixels.size
        let isRight = [.upMirrored, .down, .right, .rightMirrored].contains(orientation)
        let isBottom = [.down, .downMirrored, .rightMirrored, .left].contains(orientation)
        let place = (isBottom ? size.height - 1 : 0) * size.width + (isRight ? size.width - 1 : 0)
        #expect(image.pixels.bytes[place * 4..<place * 4 + 4].elementsEqual(pixels.bytes[0..<4]))
    }

    @Test func profileIsApplied() throws {
        let test = TestTIFF(profile: TestProfile.bytes("RGB "))
        let file = try test.file()
        #expect(ImageMetadata(file: file.span, customFormats: Self.formats).colorProfile == test.profile)
        #expect(try decode(file).header.colorProfile != nil)
    }

    @Test func fileIsDecodedHoweverItArrives() throws {
        let test = TestTIFF(size: PixelSize(width: 9, height: 7), compression: COMPRESSION_LZW)
        let file = try test.file()
        let expected = try decode(file).pixels
        let deliveries = (1..<file.count).map { [0..<$0, $0..<file.count] } + [file.indices.map { $0..<$0 + 1 }]
        for pieces in deliveries {
            let decoder = StreamingDecoder(customFormats: Self.formats)
            for piece in pieces { try append(file, piece, to: decoder) }
            #expect(try decoder.finish().pixels == expected)
        }
    }

    @Test(arguments: ["w", "w8", "wb"]) func pagesAreCountedAndTheFirstIsDecoded(mode: String) throws {
        var test = TestTIFF(mode: mode, pageCount: 3)
        let file = try test.file()
        let header = try ImageHeader.probe(file.span, isComplete: true, customFormats: Self.formats)
        #expect(header?.pageCount == 3 && header?.frameCount == 1)
        // A smaller version of the image is not a page.
        test.tags = [(TIFFTAG_SUBFILETYPE, UInt32(FILETYPE_REDUCEDIMAGE))]
        #expect(try decode(test.file()).header.pageCount == 1)
    }

    @Test func listOfPagesThatReturnsToAnEarlierOneEnds() throws {
        var file = try TestTIFF(mode: "wl", pageCount: 2).file()
        let first = file.number(at: 4, length: 4)
        let count = file.number(at: first, length: 2)
        let second = file.number(at: first + 2 + count * 12, length: 4)
        for index in 0..<4 { file[second + 2 + count * 12 + index] = file[4 + index] }
        #expect(try decode(file).header.pageCount == 2)
    }

    @Test func limitsAreCheckedBeforeDecoding() throws {
        let file = try TestTIFF(size: PixelSize(width: 40, height: 30)).file()
        #expect(throws: CodecError.overLimit(.pixels, value: 1_200, limit: 1_199)) {
            try decode(file, limits: DecodeLimits(maximumPixels: 1_199))
        }
        #expect(throws: CodecError.overLimit(.side, value: 40, limit: 39)) {
            try decode(file, limits: DecodeLimits(maximumSide: 39))
        }
    }

    @Test func hugeSizesAreRefusedWithoutMemory() throws {
        let large: UInt32 = 0x7FFF_FFF0
        for tile in [nil, PixelSize(width: 16, height: 16)] {
            let file = try TestTIFF(tile: tile, mode: "wl")
                .file().replacingTag(TIFFTAG_IMAGEWIDTH, by: large).replacingTag(TIFFTAG_IMAGELENGTH, by: large)
            #expect(throws: CodecError.self) { try decode(file) }
        }
        // Pieces that are too large, and too many of them, in an image within the limits.
        let strips = try TestTIFF(size: PixelSize(width: 1, height: 8), rowsPerStrip: 1, mode: "wl").file()
            .replacingTag(TIFFTAG_IMAGELENGTH, by: 3_000_000)
        let limits = DecodeLimits(maximumPixels: 1 << 30, maximumSide: 1 << 30)
        #expect(throws: CodecError.unsupportedFeature(.tiff, "more than 1048576 strips or tiles")) {
            try decode(strips, limits: limits)
        }
        let tiles = try TestTIFF(tile: PixelSize(width: 16, height: 16), mode: "wl").file()
            .replacingTag(TIFFTAG_TILEWIDTH, by: 1 << 24).replacingTag(TIFFTAG_TILELENGTH, by: 1 << 24)
        #expect(throws: CodecError.self) { try decode(tiles) }
    }

    @Test func unsupportedSamplesAreNamed() throws {
        for (format, bits) in [(SAMPLEFORMAT_INT, 16), (SAMPLEFORMAT_IEEEFP, 8)] {
            let test = TestTIFF(bits: bits, tags: [(TIFFTAG_SAMPLEFORMAT, UInt32(format))])
            #expect(throws: CodecError.unsupportedFeature(.tiff, "samples of \(bits) bits in format \(format)")) {
                try decode(test.file())
            }
        }
    }

    @Test func truncatedFileIsAnErrorOrTheSameImage() throws {
        let file = try TestTIFF(size: PixelSize(width: 20, height: 10), compression: COMPRESSION_LZW).file()
        let whole = try decode(file).pixels
        for count in 0..<file.count - 1 {
            // Some tags after the pixels are not needed.
            let pixels = pixels(Array(file.prefix(count)))
            #expect(pixels == nil || pixels == whole, "\(count) bytes")
        }
    }

    @Test func rowsBeforeTheMissingOnesAreKept() throws {
        var file = try TestTIFF(mode: "wl").file()
        // The place of the last strip, whose first row is 32.
        let places = try file.number(at: file.placeOfTag(TIFFTAG_STRIPOFFSETS).unwrapped(), length: 4)
        let end = UInt32(file.count - 10)
        for index in 0..<4 { file[places + 16 + index] = UInt8(truncatingIfNeeded: end >> (8 * index)) }
        #expect(throws: CodecError.truncated(.tiff)) { try decode(file) }
        let partial = try decode(file, DecodeOptions(allowsPartial: true))
        #expect(partial.isPartial && partial.completeRows == 32)
    }

    @Test func damagedFileGivesAnErrorOrAnImage() throws {
        let size = PixelSize(width: 20, height: 10)
        let tile = PixelSize(width: 16, height: 16)
        let files = [
            TestTIFF(size: size, compression: COMPRESSION_LZW), TestTIFF(size: size, tile: tile, mode: "w8"),
            TestTIFF(size: size, compression: COMPRESSION_JPEG, isPlanar: true),
            TestTIFF(
                size: size, bits: 1, channels: 1, photometric: PHOTOMETRIC_MINISWHITE,
                compression: COMPRESSION_CCITTFAX4),
            TestTIFF(size: size, photometric: PHOTOMETRIC_CIELAB, compression: COMPRESSION_ADOBE_DEFLATE, tile: tile),
            TestTIFF(size: size, bits: 4, channels: 1, photometric: PHOTOMETRIC_PALETTE),
        ]
        for test in files {
            let file = try test.file()
            for seed in 0..<300 as Range<UInt64> {
                var random = SeededGenerator(seed: seed)
                var damaged = file
                for _ in 0...seed % 3 {
                    // Most of the file is pixels; tags are at its end.
                    let last = damaged.count
                    let place = Int.random(in: (seed % 2 == 0 ? 0 : last * 3 / 4)..<last, using: &random)
                    damaged[place] = UInt8.random(in: 0...255, using: &random)
                }
                _ = pixels(damaged, limits: DecodeLimits(maximumPixels: 1 << 16))
            }
        }
    }

    @Test func decodeStopsWhenItsTaskIsCanceled() async throws {
        let file = try TestTIFF().file()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try StreamingDecoder.decode(file.span, customFormats: Self.formats)
        }
        let result = await task.result
        #expect(throws: CodecError.cancelled(.tiff)) { try result.get() }
    }
}
#endif
