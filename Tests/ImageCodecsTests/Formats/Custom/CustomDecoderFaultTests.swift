import ImageCodecs
import ImageTestSupport
import Testing

/// Decoders that violate their requirements cause only an error.
struct CustomDecoderFaultTests {
    private typealias Act = TestFormat.Act

    private func fault(_ detail: String) -> CodecError { .decoderFault(TestFormat.name, detail) }

    @Test(arguments: [DecodeOptions(), DecodeOptions(target: .maximumSide(3), allowsPartial: true)])
    func tooManyRowsOfACustomDecoderAreRejected(options: DecodeOptions) {
        let error = fault("more than 8 rows")
        #expect(throws: error) { try TestFormat(begin: TestFormat.rows(9)).decoded(options) }
        #expect(throws: error) {
            try TestFormat(begin: TestFormat.rows(8), finish: TestFormat.rows(1)).decoded(options)
        }
        // Also if the decoder ignores the error.
        #expect(throws: error) {
            try TestFormat(begin: { rows in for _ in 0..<9 { try? TestFormat.rows(1)(&rows) } }).decoded(options)
        }
    }

    @Test(arguments: [0, 1, 3, 5, 8, 4_000])
    func customDecoderRowsOfAnotherWidthAreRejected(pixels: Int) {
        let error = fault("a row of \(pixels * 4) samples instead of 16")
        for options in [DecodeOptions(), DecodeOptions(target: .maximumSide(3)), DecodeOptions(pixelFormat: .rgba16)] {
            #expect(throws: error) { try TestFormat(begin: TestFormat.rows(8, of: pixels)).decoded(options) }
            #expect(throws: error) {
                try TestFormat(begin: { rows throws(CodecError) in
                    try rows.append([UInt16](repeating: 1, count: pixels * 4).span)
                }).decoded(options)
            }
        }
    }

    @Test func customDecoderRowsAfterARejectedOneAreRejected() throws {
        let format = TestFormat(begin: { rows in
            try? TestFormat.rows(1, of: 3)(&rows)
            try? TestFormat.rows(8)(&rows)
        })
        let decoder = StreamingDecoder(customFormats: [format])
        try append(TestFormat.file, to: decoder)
        #expect(throws: CodecError.self) { try decoder.begin() }
        #expect(decoder.partialImage == nil)
        #expect(throws: CodecError.self) { try decoder.finish() }
    }

    @Test func tooFewRowsOfACustomDecoderAreTruncation() throws {
        let format = TestFormat(begin: TestFormat.rows(5))
        #expect(throws: CodecError.truncated(TestFormat.name)) { try format.decoded() }
        let image = try format.decoded(DecodeOptions(allowsPartial: true))
        #expect(image.isPartial && image.completeRows == 5)
        #expect(throws: CodecError.truncated(TestFormat.name)) {
            try TestFormat().decoded(DecodeOptions(allowsPartial: true))
        }
    }

    @Test(arguments: [(0, 0), (0, 5), (5, 0), (-4, 8), (4, -8), (.min, .min)])
    func customHeadersWithoutPixelsAreRejected(width: Int, height: Int) {
        let size = PixelSize(width: width, height: height)
        var format = TestFormat { _ in Issue.record("decoded") }
        format.header?.size = size
        #expect(throws: CodecError.zeroPixels(TestFormat.name, size)) { try format.decoded() }
        #expect(throws: CodecError.zeroPixels(TestFormat.name, size)) { try format.probed() }
    }

    @Test(arguments: [1 << 16, 0x7FFF_FFFF, 1 << 31, 1 << 62, .max])
    func hugeCustomImageSizesAreRejectedWithoutLimits(side: Int) {
        var format = TestFormat { _ in Issue.record("decoded") }
        let unlimited = DecodeLimits(maximumPixels: .max, maximumSide: .max, maximumBytes: .max)
        for size in [
            PixelSize(width: side, height: 1), PixelSize(width: 1, height: side), PixelSize(width: side, height: side),
        ] {
            format.header?.size = size
            #expect(throws: CodecError.overLimit(.side, value: side, limit: 65_535)) { try format.decoded() }
            // Files that could be decoded with such limits are not tested here.
            for options in [
                DecodeOptions(), DecodeOptions(target: .maximumSide(9)), DecodeOptions(target: .maximumSide(.max)),
                DecodeOptions(target: .fill(PixelSize(width: 7, height: 1 << 20)), allowsUpscaling: true),
                DecodeOptions(pixelFormat: .rgba16),
            ] {
                let decoder = StreamingDecoder(options: options, limits: unlimited, customFormats: [format])
                do {
                    try append(TestFormat.file, to: decoder)
                    #expect(side <= 0x7FFF_FFFF && decoder.plan != nil)
                } catch CodecError.overLimit {
                } catch {
                    Issue.record(error)
                }
            }
        }
    }

    @Test func missingCustomHeaderIsOverTheLimit() throws {
        let format = TestFormat(header: nil)
        let decoder = StreamingDecoder(limits: DecodeLimits(maximumHeaderBytes: 1_000), customFormats: [format])
        try append(TestFormat.file + [UInt8](repeating: 0, count: 900), to: decoder)
        #expect(throws: CodecError.self) { try append([UInt8](repeating: 0, count: 1_000), to: decoder) }
        #expect(throws: CodecError.truncated(TestFormat.name)) { try format.decoded() }
    }

    @Test func customHeaderCannotSetUnrelatedProperties() throws {
        var format = TestFormat(begin: TestFormat.rows(8))
        format.header?.format = .png
        format.header?.frameCount = nil
        format.header?.hasTrailingOrientation = true
        format.header?.colorProfile = "none"
        format.header?.colorConversion = .converted
        format.header?.bitsPerChannel = .max
        format.header?.colorChannels = .min
        format.header?.isProgressive = true
        let header = try format.decoded().header
        #expect(header.format == TestFormat.name && header.frameCount == 1 && !header.mayBeAnimated)
        #expect(!header.hasTrailingOrientation && header.colorProfile == nil)
        #expect(header.colorConversion == .unneeded)
    }

    @Test(arguments: [(0, 0), (-1, 8), (5, 8), (4, 9), (.max, .max)])
    func customDecoderRowsOfAnImpossibleSizeAreRejected(width: Int, height: Int) {
        var format = TestFormat(begin: TestFormat.rows(8))
        format.rowSize = PixelSize(width: width, height: height)
        let error = fault("rows of \(width)x\(height) for an image of 4x8")
        #expect(throws: error) { try format.decoded(DecodeOptions(target: .maximumSide(2))) }
    }

    @Test func customDecoderRowsSmallerThanTheTargetAreScaled() throws {
        var format = TestFormat(begin: TestFormat.rows(1, of: 1))
        format.rowSize = PixelSize(width: 1, height: 1)
        for target in [DecodeOptions.Target.maximumSide(7), .fill(PixelSize(width: 2, height: 3))] {
            let image = try format.decoded(DecodeOptions(target: target))
            #expect(image.pixels.bytes.indices.allSatisfy { $0 % 4 == 3 || image.pixels.bytes[$0] == 200 })
        }
    }

    @Test func previewRowsOfACustomDecoderAreChecked() throws {
        let acts: [(Act, isFault: Bool)] = [
            (TestFormat.rows(9), true), (TestFormat.rows(1, of: 3), true), (TestFormat.rows(2), false),
        ]
        for (act, isFault) in acts {
            let format = TestFormat(previewScan: .max, preview: act)
            let decoder = StreamingDecoder(customFormats: [format])
            try append(TestFormat.file, to: decoder)
            try decoder.begin()
            #expect(decoder.previewVersion > 0)
            if isFault {
                #expect(throws: CodecError.self) { try decoder.preview() }
            } else {
                #expect(try decoder.preview()?.completeRows == 2)
            }
        }
    }

    @Test func salvagedRowsOfACustomDecoderAreChecked() throws {
        let format = TestFormat(
            begin: { rows throws(CodecError) in
                try TestFormat.rows(3)(&rows)
                throw .corrupt(TestFormat.name, "nonsense")
            }, salvage: TestFormat.rows(99))
        let image = try format.decoded(DecodeOptions(allowsPartial: true))
        #expect(image.isPartial && image.completeRows == 8)
    }

    @Test func undeclaredTransparencyOfACustomFormatIsHarmless() throws {
        // This is not an error: rows are delivered unchanged, or opaque if they are scaled.
        let format = TestFormat(begin: TestFormat.rows(8, sample: 100))
        #expect(try format.decoded().pixels.bytes.allSatisfy { $0 == 100 })
        let small = try format.decoded(DecodeOptions(target: .maximumSide(4))).pixels
        #expect(small.isOpaque)
    }
}
