import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite
struct ImageHeaderProbeTests {
    /// A small file of every format.
    static func files() throws -> [[UInt8]] {
        let image = try TestImages.photo(width: 24, height: 18, hasAlpha: true)
        return try EncodeOptions.formats.map { try image.encoded(as: $0) } + [
            TestJPEG().file(exif: TestExif.bytes(orientation: 3), width: 24, height: 18),
            TestPNG(before: [TestPNG.chunk("eXIf", TestExif.bytes(orientation: 5))])
                .file(TestPNG.Image(width: 1, height: 1, depth: 8, colorType: 0, samples: [1])),
        ]
    }

    @Test
    func headerOfEveryFormatHasItsSize() throws {
        for format in EncodeOptions.formats {
            let file = try TestImages.photo(width: 24, height: 18).encoded(as: format)
            let header = try #require(try ImageHeader.probe(file.span))
            #expect(header.format == format)
            #expect(header.size == PixelSize(width: 24, height: 18))
            #expect(header.frameCount == 1)
            #expect(header.orientation == .up)
        }
    }

    @Test
    func aLongerPrefixNeverChangesTheHeader() throws {
        for file in try Self.files() {
            var known: ImageHeader?
            for length in 0...file.count {
                let header = try ImageHeader.probe(file.span.extracting(first: length))
                guard var expected = known else {
                    known = header
                    continue
                }
                expected.frameCount = expected.frameCount ?? header?.frameCount
                #expect(header == expected, "after \(length) bytes")
            }
            #expect(known != nil)
        }
    }

    @Test
    func damagedHeadersGiveAnErrorOrAHeader() throws {
        for file in try Self.files() {
            for offset in 0..<min(file.count, 400) {
                for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                    var damaged = file
                    damaged[offset] = value
                    if let header = try? ImageHeader.probe(damaged.span) { #expect(header.size.area > 0) }
                }
            }
        }
    }

    @Test
    func aTinyGIFOfFourGigapixelsIsRejected() {
        let file = Array("GIF89a".utf8) + [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x2C]
        let expected = CodecError.overLimit(.pixels, value: 65_535 * 65_535, limit: 0x3FFF * 0x3FFF)
        #expect(throws: expected) { try ImageHeader.probe(file.span) }
    }

    @Test
    func aGIFFrameMuchLargerThanItsCanvasIsRejected() {
        let file =
            Array("GIF89a".utf8) + [1, 0, 1, 0, 0, 0, 0] + [0x2C, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 8]
        #expect(throws: CodecError.self) { try ImageHeader.probe(file.span) }
    }

    @Test
    func imageWithASideOfZeroIsRejected() throws {
        let gif = Array("GIF89a".utf8) + [0, 0, 5, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 0, 0, 5, 0, 0, 2]
        #expect(throws: CodecError.zeroPixels(.gif, PixelSize(width: 0, height: 5))) {
            try ImageHeader.probe(gif.span)
        }
        let jpeg = TestJPEG().file(exif: nil, width: 5, height: 0)
        #expect(throws: CodecError.zeroPixels(.jpeg, PixelSize(width: 5, height: 0))) {
            try ImageHeader.probe(jpeg.span)
        }
    }

    @Test
    func endlessMetadataIsRejected() throws {
        let segment: [UInt8] = [0xFF, 0xE1, 0x00, 0x80] + [UInt8](repeating: 0x41, count: 0x7E)
        let file = [0xFF, 0xD8] + [[UInt8]](repeating: segment, count: 100).joined()
        let limits = DecodeLimits(maximumHeaderBytes: 10_000)
        #expect(try ImageHeader.probe(file.span.extracting(first: 10_000), limits: limits) == nil)
        #expect(throws: CodecError.overLimit(.headerBytes, value: 10_001, limit: 10_000)) {
            try ImageHeader.probe(file.span.extracting(first: 10_001), limits: limits)
        }
    }

    @Test
    func headerLimitDoesNotDependOnPieceSizes() throws {
        let text = TestPNG.chunk("tEXt", [UInt8](repeating: 0x41, count: 5000))
        let image = TestPNG.Image(width: 1, height: 1, depth: 8, colorType: 0, samples: [1])
        let file = TestPNG(before: [text]).file(image)
        #expect(throws: CodecError.self) {
            try ImageHeader.probe(file.span, limits: DecodeLimits(maximumHeaderBytes: 4000))
        }
        #expect(try ImageHeader.probe(file.span, limits: DecodeLimits(maximumHeaderBytes: 6000)) != nil)
    }

    @Test(arguments: 1...8, [false, true])
    func exifOrientationOfAJPEGIsRead(orientation: Int, isBigEndian: Bool) throws {
        for type: UInt8 in [3, 4] {
            let exif = TestExif.bytes(orientation: UInt8(orientation), isBigEndian: isBigEndian, type: type)
            let file = TestJPEG().file(exif: exif, width: 9, height: 7)
            #expect(try ImageHeader.probe(file.span)?.orientation.rawValue == orientation)
        }
    }

    @Test(arguments: [0, 9, 255])
    func nonsenseOrientationsAreUpright(orientation: UInt8) {
        let exif = TestExif.bytes(orientation: orientation)
        let read = ImageOrientation(exif: exif.span)
        #expect(read == .up)
    }

    @Test
    func everyCutOfExifIsReadWithoutHarm() {
        let exif = TestExif.bytes(orientation: 6)
        for length in exif.indices {
            let orientation = ImageOrientation(exif: exif.span.extracting(first: length))
            #expect(orientation == .up || orientation == .right)
        }
    }

    @Test
    func theThumbnailInsideOfExifIsNotTheImage() throws {
        let thumbnail = TestJPEG().file(exif: nil, width: 1, height: 2)
        let file = TestJPEG().file(exif: TestExif.bytes(orientation: 1) + thumbnail, width: 90, height: 70)
        #expect(try ImageHeader.probe(file.span)?.size == PixelSize(width: 90, height: 70))
    }

    @Test(arguments: [0xC3, 0xC5, 0xC6, 0xC7, 0xCB, 0xCD, 0xCE, 0xCF] as [UInt8])
    func losslessAndHierarchicalJPEGIsNotSupported(marker: UInt8) {
        let file = TestJPEG(marker: marker).file(exif: nil, width: 9, height: 7)
        #expect {
            try ImageHeader.probe(file.span)
        } throws: { error in
            if case CodecError.unsupportedFeature(.jpeg, _) = error { true } else { false }
        }
    }

    @Test(arguments: [(0xC0, false), (0xC1, false), (0xC2, true), (0xC9, false), (0xCA, true)] as [(UInt8, Bool)])
    func progressiveJPEGIsRecognized(marker: UInt8, isProgressive: Bool) throws {
        let file = TestJPEG(marker: marker).file(exif: nil, width: 9, height: 7)
        #expect(try ImageHeader.probe(file.span)?.isProgressive == isProgressive)
    }

    @Test
    func headerOfAnAnimatedPNGHasItsFrameCount() throws {
        let writer = TestPNG(before: [TestPNG.chunk("acTL", [0, 0, 0, 12, 0, 0, 0, 0])])
        let file = writer.file(TestPNG.Image(width: 1, height: 1, depth: 8, colorType: 0, samples: [1]))
        #expect(try ImageHeader.probe(file.span)?.frameCount == 12)
    }

    @Test
    func frameCountOfGIFIsKnownWithTheWholeFile() throws {
        let frame = try TestImages.drawing(width: 5, height: 4)
        let file = try animation(of: [frame, frame, frame], as: .gif)
        #expect(try ImageHeader.probe(file.span)?.frameCount == 3)
        let cut = try #require(try ImageHeader.probe(file.span.extracting(first: file.count - 1)))
        #expect(cut.frameCount == nil)
    }
}
