import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct ICORowDecoderTests {
    private static let small = TestImage.noise(8, 8, seed: 1, isOpaque: false)
    private static let medium = TestImage.noise(16, 16, seed: 2, isOpaque: false)
    private static let large = TestImage.noise(32, 32, seed: 3, isOpaque: false)

    private func threeSizes() throws -> [UInt8] {
        TestICO.file([
            TestICO.entry(Self.small),
            TestICO.Entry(size: Self.large.size, data: try Self.large.encoded(as: .png)),
            TestICO.entry(Self.medium),
        ])
    }

    @Test func headerIsThatOfTheLargestImage() throws {
        let file = try threeSizes()
        let header = try #require(try probe(Array(file.prefix(6 + 3 * 16))))
        #expect(header.format == .ico && header.size == Self.large.size && header.hasAlpha && header.frameCount == 1)
        #expect(try probe(Array(file.prefix(6 + 3 * 16 - 1))) == nil)
    }

    @Test func smallerSizesAreInTheirOrder() throws {
        let sizes = [6, 2, 8, 3, 5, 3, 7, 4, 1].map { PixelSize(width: $0, height: $0) }
        let header = try probe(TestICO.file(sizes.map { TestICO.Entry(size: $0, data: []) }))
        #expect(header?.smallerSizes.map(\.width) == Array(1...7))
    }

    @Test(arguments: [(0, 8), (1, 1), (2, 1), (16, 4), (17, 5), (255, 8)])
    func missingNumberOfBitsFollowsFromThatOfColors(colorCount: Int, bits: Int) throws {
        let file = TestICO.file([
            TestICO.Entry(size: Self.small.size, bits: 0, colorCount: colorCount, data: [])
        ])
        let directory = try IconDirectory(file.span)
        #expect(directory?.largest?.bitsPerPixel == bits)
    }

    @Test(
        arguments: [
            (nil, large), (32, large), (17, large), (16, medium), (9, medium), (8, small), (2, small),
        ] as [(Int?, PixelBuffer)])
    func smallestSufficientImageIsDecoded(side: Int?, source: PixelBuffer) throws {
        let options = DecodeOptions(target: side.map { .maximumSide($0) } ?? .original)
        let image = try decode(try threeSizes(), options: options)
        let expected = try decode(try source.encoded(as: .png), options: options)
        #expect(image.pixels == expected.pixels)
        #expect(image.originalSize == Self.large.size)
    }

    @Test func imageWithMoreBitsIsPreferred() throws {
        let palette = TestBMP(
            width: 8, height: 8, bits: 1, palette: [[0, 0, 0], [255, 255, 255]],
            data: [UInt8](repeating: 0, count: 2 * 8 * 4))
        let poor = TestICO.Entry(size: Self.small.size, bits: 1, data: palette.bitmap(heightFactor: 2))
        for file in [
            TestICO.file([poor, TestICO.entry(Self.small)]), TestICO.file([TestICO.entry(Self.small), poor]),
        ] {
            #expect(try decode(file).pixels == Self.small)
        }
    }

    @Test func maskMakesPixelsTransparent() throws {
        let bmp = TestBMP(
            width: 3, height: 2, bits: 4, palette: [[9, 9, 9], [200, 100, 50]],
            data: TestBMP.fromBottom([[0x01, 0x00], [0x10, 0x10]])
                + TestBMP.fromBottom([[0b0100_0000], [0b0010_0000]]))
        let size = PixelSize(width: 3, height: 2)
        let file = TestICO.file([TestICO.Entry(size: size, bits: 4, data: bmp.bitmap(heightFactor: 2))])
        #expect(
            try decode(file).pixels.bytes == [
                9, 9, 9, 255, 200, 100, 50, 0, 9, 9, 9, 255,
                200, 100, 50, 255, 9, 9, 9, 255, 200, 100, 50, 0,
            ])
    }

    @Test func maskCountsIfAllAlphaIsZero() throws {
        var image = Self.small
        for alpha in stride(from: 3, to: image.bytes.count, by: 4) { image.bytes[alpha] = 0 }
        let decoded = try decode(TestICO.file([TestICO.entry(image)]))
        #expect(stride(from: 3, to: image.bytes.count, by: 4).allSatisfy { decoded.pixels.bytes[$0] == 255 })
    }

    @Test func maskMayBeMissingOrIncompleteIfThereIsAlpha() throws {
        let entry = TestICO.entry(Self.small)
        for count in [1, 31, 8 * 4] {
            var entry = entry
            entry.data.removeLast(count)
            let image = try decode(TestICO.file([entry]))
            #expect(image.pixels == Self.small)
            #expect(image.header.warnings == [.missingData])
        }
        let whole = try decode(TestICO.file([entry]))
        #expect(whole.header.warnings.isEmpty)
    }

    @Test func bytesAfterTheMaskAreIgnored() throws {
        var entry = TestICO.entry(Self.small)
        entry.data += [UInt8](repeating: 0xAB, count: 50)
        let file = TestICO.file([entry])
        #expect(try decode(file).pixels == Self.small)
        #expect(try decode(file) { 1 } == decode(file))
    }

    @Test func metadataOfAPNGIsNotHeld() throws {
        let text = [[UInt8]](repeating: TestPNG.chunk("tEXt", Array("name\0text".utf8)), count: 100)
        let data = TestPNG(before: text).file(
            TestPNG.Image(
                width: 8, height: 8, depth: 8, colorType: 6, samples: Self.small.bytes.map { Int($0) }))
        let file = TestICO.file([TestICO.Entry(size: Self.small.size, data: data)])
        let limits = DecodeLimits(maximumHeaderBytes: 100)
        #expect(try decode(file, limits: limits).pixels == Self.small)
        let image = try decode(file, limits: limits) { 1 }
        #expect(image.pixels == Self.small)
    }

    @Test func imageIsTheSameHoweverItArrives() throws {
        let file = try threeSizes()
        for side in [4, 16, 32] {
            let options = DecodeOptions(target: .maximumSide(side))
            let whole = try decode(file, options: options)
            for boundary in stride(from: 1, to: file.count, by: 7) {
                var pieces = [boundary, file.count].makeIterator()
                #expect(try decode(file, options: options) { pieces.next() ?? 1 } == whole)
            }
            #expect(try decode(file, options: options) { 1 } == whole)
        }
        #expect(try ImageVerifier.verify(file.span).size == Self.large.size)
    }

    @Test func truncatedFileIsAnError() throws {
        let file = TestICO.file([TestICO.entry(Self.small)])
        for length in 0..<file.count - 8 * 4 {
            #expect(throws: CodecError.self, "\(length) bytes") { try decode(Array(file.prefix(length))) }
        }
        let png = TestICO.file([TestICO.Entry(size: Self.large.size, data: try Self.large.encoded(as: .png))])
        for length in stride(from: 11, to: png.count - 20, by: 11) {
            #expect(throws: CodecError.truncated(.ico), "\(length) bytes") { try decode(Array(png.prefix(length))) }
        }
        let partial = try decode(Array(png.dropLast(1_000)), options: DecodeOptions(allowsPartial: true))
        #expect(partial.isPartial && partial.completeRows > 0)
    }

    @Test(arguments: [false, true], [PixelSize(width: 300, height: 300), PixelSize(width: 48, height: 48)])
    func imageWithoutADeclaredSizeHasItsOwn(isPNG: Bool, size: PixelSize) throws {
        let source = TestImage.noise(size.width, size.height, seed: 4, isOpaque: false)
        var entry = TestICO.entry(source)
        if isPNG { entry.data = try source.encoded(as: .png) }
        entry.size = PixelSize(width: 256, height: 256)
        let file = TestICO.file([TestICO.entry(Self.small), entry])
        let image = try decode(file)
        #expect(image.pixels == source)
        #expect(try decode(file) { 1 } == image)
        #expect(try ImageVerifier.verify(file.span).size == size)
        #expect(try decode(file, options: DecodeOptions(target: .maximumSide(8))).pixels == Self.small)
        #expect(throws: CodecError.overLimit(.pixels, value: size.area, limit: size.area - 1)) {
            try decode(file, limits: DecodeLimits(maximumPixels: size.area - 1))
        }
        for length in stride(from: 10, to: file.count / 2, by: file.count / 20) {
            #expect(throws: CodecError.truncated(.ico)) { try decode(Array(file.prefix(length))) }
        }
    }

    @Test(arguments: [[1, 2, 3, 4, 5, 6, 7, 8], Array("\u{89}PNG\r\n\u{1A}\n".unicodeScalars.map { UInt8($0.value) })])
    func smallImageBesideADamagedOneIsDecoded(beginning: [UInt8]) throws {
        let large = TestICO.Entry(
            size: PixelSize(width: 256, height: 256), data: beginning + [UInt8](repeating: 0, count: 100))
        let file = TestICO.file([large, TestICO.entry(Self.small)])
        #expect(try decode(file, options: DecodeOptions(target: .maximumSide(8))).pixels == Self.small)
        #expect(throws: CodecError.self) { try decode(file) }
    }

    @Test func invalidDirectoryIsAnError() throws {
        #expect(throws: CodecError.corrupt(.ico, "no image")) { try probe([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]) }
        let count = 1_025
        let long = [0, 0, 1, 0, UInt8(count & 255), UInt8(count >> 8), 0, 0, 0, 0, 0, 0]
        #expect(throws: CodecError.corrupt(.ico, "a directory of 1025 images, more than 1024")) { try probe(long) }
        var entry = TestICO.entry(Self.small)
        entry.size = PixelSize(width: 9, height: 8)
        #expect(throws: CodecError.self) { try decode(TestICO.file([entry])) }
        var inside = TestICO.file([TestICO.entry(Self.small)])
        inside[18] = 4
        #expect(throws: CodecError.corrupt(.ico, "an image inside of the directory")) { try decode(inside) }
        #expect(throws: CodecError.overLimit(.pixels, value: 1_024, limit: 1_000)) {
            try decode(try threeSizes(), limits: DecodeLimits(maximumPixels: 1_000))
        }
    }
}
