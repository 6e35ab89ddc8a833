import ImageCodecs
import ImageTestSupport
import Testing

/// Formats of images that are made of shapes, and rendered at any size.
struct VectorFormatTests {
    /// Renders a ramp from the left to the right, whatever the file.
    private struct RampFormat: WholeFileFormat {
        var header = ImageHeader(format: TestFormat.name, size: PixelSize(width: 24, height: 16))
        let format = TestFormat.name

        init(proportions: PixelSize) { header.proportions = proportions }

        static func row(_ width: Int) -> [UInt8] {
            (0..<width).flatMap { x in [UInt8(x * 255 / max(width - 1, 1)), 0, 0, 255] }
        }

        func recognizes(_ beginning: Span<UInt8>) -> Bool { true }
        func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? { header }
        func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize { target }
        func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int { 0 }
        func decode(
            _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
        ) throws(CodecError) {
            let row = Self.row(rowSize.width)
            for _ in 0..<rowSize.height { try rows.append(row.span) }
        }
    }

    private func decode(
        _ target: DecodeOptions.Target, proportions: PixelSize = PixelSize(width: 240, height: 161),
        limits: DecodeLimits = DecodeLimits()
    ) throws(CodecError) -> DecodedImage {
        let format = RampFormat(proportions: proportions)
        let options = DecodeOptions(target: target)
        let file = TestFormat.file
        let image = try StreamingDecoder.decode(file.span, options: options, limits: limits, customFormats: [format])
        #expect(image.pixels.size == options.outputSize(for: format.header))
        return image
    }

    private static func box(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    @Test(
        arguments: [
            (.original, box(24, 16)), (.maximumBytes(4_000), box(24, 16)), (.maximumBytes(400), box(12, 8)),
            (.maximumSide(12), box(12, 8)), (.maximumSide(24), box(24, 16)), (.maximumSide(2_400), box(2_400, 1_610)),
            (.shorterSide(322), box(480, 322)), (.fit(box(1_000, 161)), box(240, 161)),
            (.fill(box(480, 322)), box(480, 322)),
        ] as [(DecodeOptions.Target, PixelSize)])
    func imageIsRenderedAtTheTarget(target: DecodeOptions.Target, size: PixelSize) throws {
        let image = try decode(target)
        #expect(image.pixels.size == size)
        // Not resampled, unless bytes limit it.
        if case .maximumBytes(400) = target { return }
        #expect(Array(image.pixels.bytes.prefix(size.width * 4)) == RampFormat.row(size.width))
        #expect(image.originalSize == Self.box(24, 16) && image.visibleSize == image.originalSize)
    }

    @Test func partThatFillsABoxIsCutFromTheRenderedImage() throws {
        let image = try decode(.fill(Self.box(50, 100)), proportions: Self.box(301, 150))
        let whole = RampFormat.row(201)
        #expect(image.pixels.size == Self.box(50, 100))
        #expect(Array(image.pixels.bytes.prefix(200)) == Array(whole[75 * 4..<125 * 4]))
    }

    @Test func limitsApplyToTheRenderedImage() {
        #expect(throws: CodecError.overLimit(.side, value: 70_000, limit: 65_535)) { try decode(.maximumSide(70_000)) }
        #expect(throws: CodecError.overLimit(.pixels, value: 640_000, limit: 600_000)) {
            try decode(
                .fill(Self.box(800, 800)), proportions: Self.box(1, 1), limits: DecodeLimits(maximumPixels: 600_000))
        }
        // Most of which would be cropped.
        for target in [.fill(Self.box(1_000, 1_000)), .shorterSide(.max)] as [DecodeOptions.Target] {
            let error = #expect(throws: CodecError.self) { try decode(target, proportions: Self.box(0x7FFF_FFFF, 1)) }
            guard case .overLimit(.side, _, 65_535) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test(arguments: [box(0, 1), box(1, -1), box(1 << 31, 1)])
    func proportionsWithoutARatioAreAFault(proportions: PixelSize) {
        #expect(throws: CodecError.decoderFault(TestFormat.name, "proportions of \(proportions)")) {
            try decode(.original, proportions: proportions)
        }
    }
}
