import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct BMPRowDecoderTests {
    private static let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [10, 20, 30]]

    /// Returns the pixels of `file`, row by row from the top, as numbers 0xRRGGBBAA.
    private func pixels(_ file: [UInt8]) throws -> [UInt32] {
        let bytes = try decode(file).pixels.bytes
        return stride(from: 0, to: bytes.count, by: 4).map { offset in
            (0..<4).reduce(0) { $0 << 8 | UInt32(bytes[offset + $1]) }
        }
    }

    private static let red: UInt32 = 0xFF00_00FF
    private static let green: UInt32 = 0x00FF_00FF
    private static let blue: UInt32 = 0x0000_FFFF
    private static let dark: UInt32 = 0x0A14_1EFF

    /// Five pixels per row: indices 0 1 1 0 1 above 1 0 0 1 0.
    @Test(
        arguments: [
            (1, [[0b0110_1000], [0b1001_0000]]), (2, [[0b0001_0100, 0b0100_0000], [0b0100_0001, 0]]),
            (4, [[0x01, 0x10, 0x10], [0x10, 0x01, 0x00]]), (8, [[0, 1, 1, 0, 1], [1, 0, 0, 1, 0]]),
        ] as [(Int, [[UInt8]])], [12, 16, 40, 52, 56, 64, 108, 124])
    func indexedPixelsAreColorsOfThePalette(stored: (bits: Int, rows: [[UInt8]]), headerLength: Int) throws {
        // Short headers do not declare the number of colors.
        let count = headerLength < 40 ? 1 << stored.bits : 2
        let palette = (0..<count).map { Self.colors[$0 % 4] }
        let bmp = TestBMP(
            width: 5, height: 2, bits: stored.bits, headerLength: headerLength, palette: palette, gap: 3,
            data: TestBMP.fromBottom(stored.rows))
        let (red, green) = (Self.red, Self.green)
        #expect(try pixels(bmp.file()) == [red, green, green, red, green, green, red, red, green, red])
        let header = try #require(try probe(bmp.file()))
        #expect(header.format == .bmp && header.bitsPerChannel == stored.bits && header.colorChannels == 1)
        #expect(!header.hasAlpha && header.orientation == .up)
    }

    @Test func indexWithoutAColorIsBlack() throws {
        let bmp = TestBMP(width: 2, height: 1, bits: 8, palette: Self.colors, data: [3, 200, 0, 0])
        #expect(try pixels(bmp.file()) == [Self.dark, 0x0000_00FF])
    }

    @Test(arguments: [24, 32], [true, false])
    func directColorsAreOpaque(bits: Int, isTopDown: Bool) throws {
        let image = TestImage.noise(7, 5, seed: 3, isOpaque: bits == 24)
        let decoded = try decode(TestBMP.file(image, bits: bits, isTopDown: isTopDown))
        var opaque = image
        for alpha in stride(from: 3, to: opaque.bytes.count, by: 4) { opaque.bytes[alpha] = 255 }
        #expect(decoded.pixels == opaque)
        #expect(!decoded.header.hasAlpha)
    }

    @Test func sixteenBitsAreFivePerChannel() throws {
        let bmp = TestBMP(width: 2, height: 1, bits: 16, data: [0x1F, 0x7C, 0xE0, 0x03])
        #expect(try pixels(bmp.file()) == [0xFF00_FFFF, Self.green])
        #expect(try probe(bmp.file())?.bitsPerChannel == 5)
    }

    @Test(arguments: [40, 52, 56, 108, 124])
    func masksSelectChannels(headerLength: Int) throws {
        let bmp = TestBMP(
            width: 2, height: 1, bits: 16, compression: 3, headerLength: headerLength, masks: [0xF800, 0x7E0, 0x1F],
            data: [0x00, 0xF8, 0xE0, 0x07])
        #expect(try pixels(bmp.file()) == [Self.red, Self.green])
        #expect(try probe(bmp.file())?.bitsPerChannel == 6)
    }

    @Test(arguments: [(40, 6), (56, 3), (108, 3), (124, 3)])
    func alphaCountsOnlyIfAMaskDeclaresIt(headerLength: Int, compression: Int) throws {
        var bmp = TestBMP(
            width: 1, height: 1, bits: 32, compression: compression, headerLength: headerLength,
            masks: [0xFF, 0xFF00, 0xFF_0000, 0xFF00_0000], data: [10, 20, 30, 40])
        #expect(try pixels(bmp.file()) == [0x0A14_1E28])
        #expect(try probe(bmp.file())?.hasAlpha == true)
        bmp.masks[3] = 0
        #expect(try pixels(bmp.file()) == [0x0A14_1EFF])
    }

    @Test(arguments: [52, 55]) func headerWithoutRoomForAnAlphaMaskHasNone(headerLength: Int) throws {
        let bmp = TestBMP(
            width: 1, height: 1, bits: 32, compression: 6, headerLength: headerLength,
            masks: [0xFF, 0xFF00, 0xFF_0000], data: [10, 20, 30, 40])
        #expect(try pixels(bmp.file()) == [0x0A14_1EFF])
        #expect(try probe(bmp.file())?.hasAlpha == false)
    }

    @Test func wideMasksAreReducedToTheirHighestBits() throws {
        let bmp = TestBMP(
            width: 1, height: 1, bits: 32, compression: 3, masks: [0x3FF0_0000, 0xF_FC00, 0x3FF],
            data: [0xFF, 0x0B, 0x00, 0x20])
        // 10 bits: red 0x200, green 2, blue 0x3FF.
        #expect(try pixels(bmp.file()) == [0x8000_FFFF])
    }

    @Test func runsOfEightBitsAreDecoded() throws {
        // The bottom row: 3 times 1, and two literal pixels; then a short row, and a skip by one column and one row.
        let runs: [UInt8] = [3, 1, 0, 3, 0, 2, 3, 9, 0, 0, 1, 2, 0, 0, 0, 2, 1, 1, 2, 0, 0, 1]
        let bmp = TestBMP(width: 6, height: 5, bits: 8, compression: 1, palette: Self.colors, data: runs)
        let (red, green, blue, dark) = (Self.red, Self.green, Self.blue, Self.dark)
        #expect(
            try pixels(bmp.file()) == [
                0, 0, 0, 0, 0, 0,
                0, red, red, 0, 0, 0,
                0, 0, 0, 0, 0, 0,
                blue, 0, 0, 0, 0, 0,
                green, green, green, red, blue, dark,
            ])
        #expect(try decode(bmp.file()).header.warnings.isEmpty)
    }

    @Test func runsOfFourBitsAreDecoded() throws {
        let runs: [UInt8] = [5, 0x12, 0, 0, 0, 3, 0x01, 0x20, 9, 0x33, 0, 1]
        let bmp = TestBMP(width: 5, height: 2, bits: 4, compression: 2, palette: Self.colors, data: runs)
        let (red, green, blue, dark) = (Self.red, Self.green, Self.blue, Self.dark)
        #expect(
            try pixels(bmp.file()) == [red, green, blue, dark, dark, green, blue, green, blue, green])
    }

    @Test func endOfRunsMayBeMissing() throws {
        var bmp = TestBMP(width: 2, height: 1, bits: 8, compression: 1, palette: Self.colors, data: [2, 1])
        #expect(try decode(bmp.file()).header.warnings == [.missingEnd])
        bmp.data = [1, 1]
        #expect(throws: CodecError.truncated(.bmp)) { try decode(bmp.file()) }
    }

    @Test func endOfRunsMayFollowTheEndOfTheLastRow() throws {
        var bmp = TestBMP(
            width: 2, height: 1, bits: 8, compression: 1, palette: Self.colors, data: [2, 1, 0, 0, 0, 1])
        let whole = try decode(bmp.file())
        #expect(whole.header.warnings.isEmpty)
        #expect(try decode(bmp.file()) { 1 } == whole)
        // What precedes the end changes nothing.
        bmp.data = [2, 1, 0, 0, 2, 3, 0, 0, 0, 2, 1, 1, 0, 3, 1, 2, 3, 0, 0, 1]
        #expect(try decode(bmp.file()).pixels == whole.pixels)
        bmp.data = [2, 1, 0, 0]
        #expect(try decode(bmp.file()).header.warnings == [.missingEnd])
    }

    @Test func memoryIsThatOfAPaletteAndOfRowsTwice() {
        #expect(BitmapRowDecoder.workingBytes(width: 100) == 8 << 10 + 2_000)
    }

    /// A small file of each kind.
    private static let files: [[UInt8]] = [
        TestBMP.file(TestImage.noise(3, 4, seed: 1, isOpaque: true)),
        TestBMP.file(TestImage.noise(3, 4, seed: 1, isOpaque: true), isTopDown: true),
        TestBMP(
            width: 5, height: 3, bits: 4, palette: colors, gap: 2,
            data: TestBMP.fromBottom([[0x12, 0x30, 0], [1, 2, 3], [0x33, 0x22, 0x10]])
        ).file(),
        TestBMP(
            width: 6, height: 4, bits: 8, compression: 1, palette: colors,
            data: [3, 1, 0, 3, 0, 2, 3, 9, 0, 0, 1, 2, 0, 0, 0, 2, 1, 1, 2, 0, 0, 1]
        ).file(),
    ]

    @Test(arguments: files) func imageIsTheSameHoweverItArrives(file: [UInt8]) throws {
        let whole = try decode(file)
        for boundary in 1..<file.count {
            var pieces = [boundary, file.count].makeIterator()
            #expect(try decode(file) { pieces.next() ?? 1 } == whole)
        }
        #expect(try decode(file) { 1 } == whole)
        #expect(try ImageVerifier.verify(file.span).size == whole.header.size)
    }

    @Test(arguments: files) func truncatedFileIsAnErrorOrKeepsItsRows(file: [UInt8]) throws {
        let whole = try decode(file)
        var rows = 0
        for length in 0..<file.count - 2 {
            let cut = Array(file.prefix(length))
            if let image = try? decode(cut) { #expect(image.pixels == whole.pixels) }
            guard let image = try? decode(cut, options: DecodeOptions(allowsPartial: true)) else { continue }
            #expect(image.completeRows >= rows)
            rows = image.completeRows
        }
        #expect(rows >= whole.pixels.height - 1)
    }

    @Test func partialImageShowsTheBottomRowsFirst() throws {
        let image = TestImage.photo(8, 8)
        let file = TestBMP.file(image)
        let half = try decode(Array(file.dropLast(4 * 24)), options: DecodeOptions(allowsPartial: true))
        #expect(half.isPartial && half.completeRows == 4)
        let middle = 4 * image.rowBytes
        #expect(half.pixels.bytes[middle...] == image.bytes[middle...])
        #expect(half.pixels.bytes[..<middle].allSatisfy { $0 == 0 })
    }

    @Test(arguments: [
        DecodeOptions(target: .maximumSide(31)), DecodeOptions(target: .fill(PixelSize(width: 20, height: 40))),
        DecodeOptions(target: .maximumSide(200), allowsUpscaling: true),
        DecodeOptions(target: .maximumSide(31), pixelFormat: .gray8), DecodeOptions(pixelFormat: .rgba16),
        DecodeOptions(ignoresOrientation: true),
    ])
    func resultEqualsThatOfPNG(options: DecodeOptions) throws {
        let image = TestImage.photo(90, 70)
        let png = try decode(try image.encoded(as: .png), options: options)
        for isTopDown in [true, false] {
            let bmp = try decode(TestBMP.file(image, isTopDown: isTopDown), options: options)
            #expect(bmp.originalSize == png.originalSize && bmp.visibleSize == png.visibleSize)
            #expect(bmp.pixels.size == png.pixels.size)
            let isNear = zip(bmp.pixels.bytes, png.pixels.bytes).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
            #expect(isNear, "from the \(isTopDown ? "top" : "bottom")")
        }
    }

    @Test func bottomUpFileIsScaledInBoundedMemory() throws {
        let decoder = StreamingDecoder(options: DecodeOptions(target: .maximumSide(100)))
        let head = Array(TestBMP(width: 10_000, height: 10_000, bits: 24).file())
        try append(head, to: decoder)
        let plan = try #require(decoder.plan)
        #expect(plan.estimatedBytes < 4 << 20)
    }

    @Test(
        arguments: [
            (TestBMP(width: 0, height: 1, bits: 24), .zeroPixels(.bmp, PixelSize(width: 0, height: 1))),
            (TestBMP(width: -1, height: 1, bits: 24), .corrupt(.bmp, "a width of -1 pixels")),
            (
                TestBMP(width: 65_536, height: 1, bits: 24),
                .overLimit(.side, value: 65_536, limit: 65_535)
            ),
            (TestBMP(width: 1, height: Int(Int32.min), bits: 24), .overLimit(.side, value: 1 << 31, limit: 65_535)),
            (TestBMP(width: 1, height: 1, bits: 7), .corrupt(.bmp, "7 bits per pixel with compression 0")),
            (TestBMP(width: 1, height: 1, bits: 24, compression: 4), .unsupportedFeature(.bmp, "compression 4")),
            (TestBMP(width: 1, height: 1, bits: 8, compression: 9), .unsupportedFeature(.bmp, "compression 9")),
            (TestBMP(width: 1, height: -1, bits: 8, compression: 1), .corrupt(.bmp, "compressed rows from the top")),
            (
                TestBMP(width: 1, height: 1, bits: 32, compression: 3, masks: [0xF0F, 0, 0]),
                .corrupt(.bmp, "masks with gaps")
            ),
            (TestBMP(width: 1, height: 1, bits: 24, headerLength: 200), .corrupt(.bmp, "a bitmap header of 200 bytes")),
        ] as [(TestBMP, CodecError)])
    func invalidHeaderIsAnErrorBeforeAllocation(bmp: TestBMP, error: CodecError) {
        #expect(throws: error) { try probe(bmp.file()) }
    }

    @Test func textThatBeginsWithTwoLettersIsNoBMP() {
        let text = Array("BMW and other cars".utf8)
        #expect(throws: CodecError.notAnImage(lookingLike: "plain text")) { try probe(text) }
    }

    @Test func reservedBytesMayHaveAnyValue() throws {
        var file = TestBMP(width: 1, height: 1, bits: 24, data: [1, 2, 3, 0]).file()
        for offset in 6..<10 { file[offset] = 0xFF }
        #expect(try pixels(file) == [0x0302_01FF])
    }

    @Test func embeddedProfileIsReportedAsUnsupported() throws {
        var bmp = TestBMP(width: 1, height: 1, bits: 24, headerLength: 124, data: [1, 2, 3, 0])
        bmp.masks = [0, 0, 0, 0, 0x4D42_4544]
        #expect(try probe(bmp.file())?.colorConversion == .unsupported)
    }
}

extension TestBMP: CustomTestStringConvertible {
    var testDescription: String { "\(width) x \(height), \(bits) bits, compression \(compression)" }
}
