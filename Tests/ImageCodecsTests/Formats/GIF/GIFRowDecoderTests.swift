import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite
struct GIFRowDecoderTests {
    private static let red: [UInt8] = [255, 0, 0, 255]
    private static let green: [UInt8] = [0, 255, 0, 255]
    private static let nothing: [UInt8] = [0, 0, 0, 0]

    @Test(arguments: [false, true])
    func gifDecodedByteByByteIsTheSame(hasAlpha: Bool) throws {
        let file = try TestImages.drawing(width: 33, height: 21, hasAlpha: hasAlpha).encoded(as: .gif)
        #expect(try decodeRows(file, step: 1) == decodeRows(file))
    }

    @Test
    func pixelsOutsideTheGIFFrameAreTransparent() throws {
        let file = TestGIF(width: 3, height: 3).file([TestGIF.Frame(left: 1, top: 1, width: 1, height: 1, indices: [1])]
        )
        let decoded = try decodeRows(file)
        #expect(
            decoded.bytes == [[UInt8]](repeating: Self.nothing, count: 4).joined() + Self.green
                + [[UInt8]](repeating: Self.nothing, count: 4).joined())
        #expect(decoded.header.hasAlpha)
    }

    @Test
    func gifFrameIsCroppedToTheCanvas() throws {
        let frame = TestGIF.Frame(left: 1, top: 1, width: 2, height: 2, indices: [0, 1, 1, 0])
        let decoded = try decodeRows(TestGIF(width: 2, height: 2).file([frame]))
        #expect(decoded.bytes == Self.nothing + Self.nothing + Self.nothing + Self.red)
        #expect(decoded.size == PixelSize(width: 2, height: 2))
    }

    @Test(arguments: [(0, 0), (0, 2), (1, 1), (2, 2), (3, 1)])
    func firstGIFFrameThatIsLargerThanTheScreenEnlargesIt(screen: (width: Int, height: Int)) throws {
        let first = TestGIF.Frame(width: 3, height: 2, indices: [0, 1, 1, 1, 0, 0], delay: 5)
        let larger = TestGIF.Frame(width: 4, height: 4, indices: [UInt8](repeating: 0, count: 16), delay: 5)
        let gif = TestGIF(width: screen.width, height: screen.height)
        let whole = TestGIF(width: 3, height: 2)
        #expect(try decodeRows(gif.file([first])).bytes == decodeRows(whole.file([first])).bytes)
        #expect(try decodeRows(gif.file([first])).size == PixelSize(width: 3, height: 2))
        // Later frames are cropped.
        let file = gif.file([first, larger])
        #expect(try ImageVerifier.verify(file.span).size == PixelSize(width: 3, height: 2))
        let frames = try AnimatedImage(file).allFrames()
        #expect(try frames == AnimatedImage(whole.file([first, larger])).allFrames())
        #expect(frames.allSatisfy { $0.size == PixelSize(width: 3, height: 2) })
    }

    @Test
    func largerFirstGIFFrameEnlargesTheScreenOnlyWhereItExceedsIt() throws {
        let frame = TestGIF.Frame(left: 1, top: 1, width: 3, height: 1, indices: [0, 1, 0])
        let decoded = try decodeRows(TestGIF(width: 2, height: 3).file([frame]))
        #expect(decoded.size == PixelSize(width: 4, height: 3))
        let row = Self.nothing + Self.red + Self.green + Self.red
        let blank = [[UInt8]](repeating: Self.nothing, count: 4).flatMap(\.self)
        #expect(decoded.bytes == blank + row + blank)
    }

    @Test(arguments: 9...11)
    func gifCodesOfUpTo11BitsAreRead(codeSize: Int) throws {
        var file = TestGIF(width: 2, height: 1).file([TestGIF.Frame(width: 2, height: 1, indices: [0, 1])])
        // The clear code, both indices, and the end code.
        var (data, held, count) = ([UInt8](), 0, 0)
        for code in [1 << codeSize, 0, 1, 1 << codeSize + 1] {
            held |= code << count
            count += codeSize + 1
            while count >= 8 {
                data.append(UInt8(held & 255))
                (held, count) = (held >> 8, count - 8)
            }
        }
        if count > 0 { data.append(UInt8(held)) }
        let start = try #require(file.indices.last { file[$0] == 0x2C })
        file.replaceSubrange((start + 10)..., with: [UInt8(codeSize), UInt8(data.count)] + data + [0, 0x3B])
        #expect(try decodeRows(file).bytes == Self.red + Self.green)
        #expect(throws: Never.self) { try ImageVerifier.verify(file.span) }
    }

    @Test
    func gifTransparentIndexIsTransparent() throws {
        let frame = TestGIF.Frame(width: 2, height: 1, indices: [0, 1], transparentIndex: 0)
        #expect(try decodeRows(TestGIF(width: 2, height: 1).file([frame])).bytes == Self.nothing + Self.green)
    }

    @Test(arguments: 1...17)
    func interlacedGIFRowsAreDeliveredInOrder(height: Int) throws {
        let indices = (0..<height).map { UInt8($0 % 3 == 0 ? 1 : 0) }
        var order: [Int] = []
        for (first, step) in [(0, 8), (4, 8), (2, 4), (1, 2)] { order += stride(from: first, to: height, by: step) }
        let frame = TestGIF.Frame(
            width: 1, height: height, indices: order.map { indices[$0] }, isInterlaced: true)
        let decoded = try decodeRows(TestGIF(width: 1, height: height).file([frame]))
        #expect(decoded.bytes == indices.flatMap { $0 == 1 ? Self.green : Self.red })
        #expect(decoded.header.isProgressive)
    }

    @Test
    func gifFramesAreCountedAndTheFirstIsDecoded() throws {
        let first = TestGIF.Frame(width: 1, height: 1, indices: [0])
        let second = TestGIF.Frame(width: 1, height: 1, indices: [1])
        let file = TestGIF(width: 1, height: 1).file([first, second, second])
        for step in [1, Int.max] {
            let decoded = try decodeRows(file, step: step)
            #expect(decoded.frameCount == 3)
            #expect(decoded.bytes == Self.red)
        }
    }

    @Test
    func firstGIFFrameIsReadyBeforeFileIsComplete() throws {
        let frame = TestGIF.Frame(width: 1, height: 1, indices: [0])
        let file = TestGIF(width: 1, height: 1).file([frame, frame])
        let header = try #require(try ImageHeader.probe(file.span))
        let decoder = try GIFRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
        let rows = RowCollector()
        try decoder.append(file.span.extracting(first: file.count - 10), to: rows)
        #expect(rows.bytes == Self.red)
        #expect(throws: CodecError.truncated(.gif)) { try decoder.finish(to: rows) }
    }

    @Test
    func missingGIFTrailerIsAcceptedBetweenBlocks() throws {
        let file = TestGIF(width: 1, height: 1).file([TestGIF.Frame(width: 1, height: 1, indices: [0])])
        #expect(try decodeRows(Array(file.dropLast())).bytes == Self.red)
        #expect(throws: CodecError.truncated(.gif)) { try decodeRows(Array(file.dropLast(4))) }
    }

    @Test
    func gifIndexOutsideOfThePaletteIsBlack() throws {
        let frame = TestGIF.Frame(width: 2, height: 1, indices: [3, 1])
        let decoded = try decodeRows(TestGIF(width: 2, height: 1).file([frame]))
        #expect(decoded.bytes == [0, 0, 0, 255] + Self.green)
        #expect(!decoded.header.hasAlpha)
    }

    @Test
    func garbageAfterTheEndOfAGIFIsIgnored() throws {
        let file = TestGIF(width: 1, height: 1).file([TestGIF.Frame(width: 1, height: 1, indices: [0])])
        #expect(try decodeRows(file + Array("garbage".utf8)).bytes == Self.red)
    }

    @Test
    func stillGIFWithoutAPaletteIsTransparent() throws {
        let file = TestGIF(width: 1, height: 1, hasPalette: false)
            .file([TestGIF.Frame(width: 1, height: 1, indices: [0])])
        #expect(try decodeRows(file).bytes == [0, 0, 0, 0])
    }

    @Test
    func gifWithTooFewPixelsIsAnError() throws {
        let file = TestGIF(width: 2, height: 2).file([TestGIF.Frame(width: 2, height: 2, indices: [0, 1])])
        #expect(throws: CodecError.self) { try decodeRows(file) }
    }

    @Test
    func gifRowsAreDecodedAsTheirDataArrive() throws {
        let file = try TestImages.photo(width: 40, height: 40).encoded(as: .gif)
        let whole = try decodeRows(file)
        let header = try #require(try ImageHeader.probe(file.span))
        let decoder = try GIFRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
        let rows = RowCollector()
        var counts: Set<Int> = []
        for offset in stride(from: 0, to: file.count, by: 20) {
            try decoder.append(file.span.extracting(offset..<min(offset + 20, file.count)), to: rows)
            #expect(rows.bytes == Array(whole.bytes.prefix(rows.bytes.count)))
            counts.insert(rows.rowCount)
        }
        #expect(counts.count > 3)
        #expect(rows.rowCount == 40)
    }

    @Test
    func interlacedGIFPreviewsFillMissingRows() throws {
        // Rows of 0 to 15, one index each: the palette has two colors, so bit by bit.
        let height = 16
        let order = [0, 8, 4, 12, 2, 6, 10, 14] + stride(from: 1, to: 16, by: 2)
        func preview(after count: Int) throws -> (scan: Int?, sources: [Int]) {
            // The received rows are green one at a time, so that it is visible where each is used.
            var sources = [Int](repeating: -1, count: height)
            var scan: Int?
            for (position, marked) in order.enumerated() where position < count {
                let frame = TestGIF.Frame(
                    width: 1, height: height, indices: order.map { $0 == marked ? 1 : 0 }, isInterlaced: true)
                let blocks = GIFBlocks.Frame(
                    left: 0, top: 0, size: PixelSize(width: 1, height: height), isInterlaced: true)
                var decoder = try GIFFrameDecoder(
                    blocks, palette: [0, 0, 0, 255, 255, 255, 255, 255] + [UInt8](repeating: 0, count: 254 * 4),
                    codeSize: 2,
                    canvas: blocks.size)
                // A clear code and an index of three bits each for every row.
                let data = TestGIF(width: 1, height: height).data(frame.indices)
                let rows = RowCollector()
                try decoder.append(data.span.extracting(first: (count * 6 + 7) / 8), to: rows)
                scan = decoder.completePasses
                let shown = RowCollector()
                decoder.render(to: shown)
                for row in 0..<shown.rowCount where shown.bytes[row * 4] == 255 { sources[row] = marked }
            }
            return (scan, sources)
        }
        let first = try preview(after: 1)
        #expect(first.scan == nil)
        #expect(first.sources == [Int](repeating: 0, count: 8) + [Int](repeating: -1, count: 8))
        let second = try preview(after: 4)
        #expect(second.scan == 2)
        #expect(second.sources == (0..<16).map { $0 / 4 * 4 })
        let last = try preview(after: 16)
        #expect(last.sources == Array(0..<16))
    }
}
