import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite
struct PNGRowDecoderTests {
    /// The valid combinations in an `IHDR`.
    static let kinds: [(colorType: UInt8, depth: Int)] = [
        (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16),
        (6, 8), (6, 16),
    ]
    static let sizes = [(1, 1), (1, 9), (2, 3), (4, 4), (5, 8), (8, 5), (9, 1), (33, 17)]

    @Test(arguments: kinds, [false, true])
    func everyPNGPixelTypeBecomesRGBA(kind: (colorType: UInt8, depth: Int), isInterlaced: Bool) throws {
        for (width, height) in Self.sizes {
            let (file, expected) = Self.file(kind, width: width, height: height, isInterlaced: isInterlaced)
            let decoded = try decodeRows(file)
            #expect(decoded.bytes == expected, "\(width)x\(height)")
            #expect(decoded.header.isProgressive == isInterlaced)
            #expect(decoded.header.bitsPerChannel == kind.depth)
        }
    }

    @Test(arguments: kinds, [false, true])
    func pngDecodedByteByByteIsTheSame(kind: (colorType: UInt8, depth: Int), isInterlaced: Bool) throws {
        let (file, _) = Self.file(kind, width: 33, height: 17, isInterlaced: isInterlaced)
        #expect(try decodeRows(file, step: 1) == decodeRows(file))
    }

    @Test
    func pngColorKeyIsTransparent() throws {
        let image = TestPNG.Image(width: 2, height: 1, depth: 8, colorType: 2, samples: [1, 2, 3, 4, 5, 6])
        let writer = TestPNG(before: [TestPNG.chunk("tRNS", [0, 4, 0, 5, 0, 6])])
        let decoded = try decodeRows(writer.file(image))
        #expect(decoded.bytes == [1, 2, 3, 255, 4, 5, 6, 0])
        #expect(decoded.header.hasAlpha)
    }

    @Test
    func pngRowsAreDecodedWhileTheFileArrives() throws {
        let image = try TestImages.photo(width: 200, height: 300)
        let file = try image.encoded(as: .png)
        let header = try #require(try ImageHeader.probe(file.span))
        let decoder = try PNGRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
        let rows = RowCollector()
        try decoder.append(file.span.extracting(first: file.count / 2), to: rows)
        #expect((100..<200).contains(rows.rowCount))
        #expect(rows.bytes == Array(image.bytes.prefix(rows.bytes.count)))
    }

    @Test
    func interlacedPNGPreviewsHaveNoHoles() throws {
        let (file, expected) = Self.file((6, 8), width: 33, height: 17, isInterlaced: true)
        let header = try #require(try ImageHeader.probe(file.span))
        let decoder = try PNGRowDecoder(header: header, rowSize: header.size, limits: DecodeLimits())
        let rows = RowCollector()
        var scans: [Int] = []
        for offset in file.indices {
            try decoder.append(file.span.extracting(offset..<offset + 1), to: rows)
            guard let scan = decoder.previewScan, scan != scans.last else { continue }
            scans.append(scan)
            let preview = RowCollector()
            try decoder.renderPreview(size: header.size, to: preview)
            #expect(preview.rowCount == 17)
            #expect(stride(from: 3, to: preview.bytes.count, by: 4).allSatisfy { preview.bytes[$0] != 0 })
        }
        #expect(scans == [1, 2, 3, 4, 5, 6])
        #expect(rows.bytes == expected)
    }

    @Test
    func pngOrientationAfterThePixelsIsReported() throws {
        let writer = TestPNG(after: [TestPNG.chunk("eXIf", TestExif.bytes(orientation: 6))])
        let image = TestPNG.Image(width: 1, height: 1, depth: 8, colorType: 0, samples: [7])
        #expect(try decodeRows(writer.file(image)).trailingOrientation == .right)
        #expect(try decodeRows(writer.file(image), step: 1).trailingOrientation == .right)
    }

    @Test
    func pngChunkWithAWrongChecksumIsAnError() throws {
        var (file, _) = Self.file((0, 8), width: 5, height: 5, isInterlaced: false)
        file[file.count - 20] ^= 1
        #expect(throws: CodecError.self) { try decodeRows(file) }
    }

    @Test
    func separatedPNGImageDataIsAnError() throws {
        let text = TestPNG.chunk("tEXt", Array("a".utf8))
        let image = TestPNG.Image(width: 1, height: 2, depth: 8, colorType: 0, samples: [7, 8])
        let data = TestPNG().data(of: image)
        let header = TestPNG.number(1) + TestPNG.number(2) + [8, 0, 0, 0, 0]
        let file =
            TestPNG.signature + TestPNG.chunk("IHDR", header) + TestPNG.chunk("IDAT", Array(data[..<9])) + text
            + TestPNG.chunk("IDAT", Array(data[9...])) + TestPNG.chunk("IEND", [])
        #expect(throws: CodecError.self) { try decodeRows(file) }
    }

    /// Returns a file of pseudorandom samples, and the pixels that they represent.
    static func file(
        _ kind: (colorType: UInt8, depth: Int), width: Int, height: Int, isInterlaced: Bool
    ) -> (file: [UInt8], pixels: [UInt8]) {
        var image = TestPNG.Image(
            width: width, height: height, depth: kind.depth, colorType: kind.colorType, samples: [])
        var noise: UInt32 = 99
        for _ in 0..<width * height * image.channels {
            noise = noise &* 1_664_525 &+ 1_013_904_223
            image.samples.append(Int(noise >> 8) & (1 << kind.depth - 1))
        }
        // No alpha of zero, so that holes differ from pixels.
        if kind.colorType >= 4 {
            for index in stride(from: image.channels - 1, to: image.samples.count, by: image.channels) {
                image.samples[index] |= 1 << (kind.depth - 1)
            }
        }
        var writer = TestPNG(isInterlaced: isInterlaced)
        let palette = (0..<1 << min(kind.depth, 8)).flatMap { (index: Int) -> [UInt8] in
            [UInt8(index), UInt8(255 - index), UInt8(index * 7 & 255)]
        }
        if kind.colorType == 3 { writer.before.append(TestPNG.chunk("PLTE", palette)) }

        var pixels: [UInt8] = []
        func eightBits(_ sample: Int) -> UInt8 {
            kind.depth == 16 ? UInt8(sample >> 8) : UInt8(sample * 255 / (1 << kind.depth - 1))
        }
        for offset in stride(from: 0, to: image.samples.count, by: image.channels) {
            let samples = Array(image.samples[offset..<offset + image.channels])
            switch kind.colorType {
            case 0: pixels += [eightBits(samples[0]), eightBits(samples[0]), eightBits(samples[0]), 255]
            case 2: pixels += samples.map(eightBits) + [255]
            case 3: pixels += palette[(samples[0] * 3)..<(samples[0] * 3 + 3)] + [255]
            case 4: pixels += [0, 0, 0, 1].map { eightBits(samples[$0]) }
            default: pixels += samples.map(eightBits)
            }
        }
        return (writer.file(image), pixels)
    }
}
