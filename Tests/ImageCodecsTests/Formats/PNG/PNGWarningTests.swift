import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// PNG files whose pixels are all there and certain, though something else is wrong.
struct PNGWarningTests {
    private static let image = TestPNG.Image(
        width: 9, height: 7, depth: 8, colorType: 2, samples: (0..<189).map { $0 * 7 % 256 })
    private static let end = TestPNG.chunk("IEND", [])

    /// The image with the given compressed data, in one or several chunks.
    private static func file(
        _ data: [[UInt8]], isInterlaced: Bool = false, after: [UInt8] = [], end: [UInt8] = end
    ) -> [UInt8] {
        let header = TestPNG.number(9) + TestPNG.number(7) + [8, 2, 0, 0, isInterlaced ? 1 : 0]
        return TestPNG.signature + TestPNG.chunk("IHDR", header) + data.flatMap { TestPNG.chunk("IDAT", $0) } + after
            + end
    }

    private static func data(isInterlaced: Bool) -> [UInt8] { TestPNG(isInterlaced: isInterlaced).data(of: image) }

    /// `chunk` with another checksum.
    private static func damaged(_ chunk: [UInt8]) -> [UInt8] { chunk.dropLast() + [~(chunk.last ?? 0)] }

    @Test(arguments: [false, true])
    func pngThatEndsAfterItsLastPixelIsComplete(isInterlaced: Bool) throws {
        let data = Self.data(isInterlaced: isInterlaced)
        let whole = Self.file([data], isInterlaced: isInterlaced)
        #expect(try warnings(of: whole, like: whole) == [])
        // The end chunk, the checksum of the data chunk, and that of the pixels.
        for missing in 1...20 {
            #expect(try warnings(of: whole.dropLast(missing), like: whole) == [.missingEnd], "\(missing) bytes")
        }
        for missing in [21, 22, 40] {
            #expect(commonError(of: whole.dropLast(missing)) == .truncated(.png), "\(missing) bytes")
        }
    }

    @Test(arguments: [false, true])
    func checksumOfThePixelsCanBeMissingOrWrong(isInterlaced: Bool) throws {
        let data = Self.data(isInterlaced: isInterlaced)
        let whole = Self.file([data], isInterlaced: isInterlaced)
        func warnings(_ parts: [[UInt8]]) throws -> Set<ImageWarning> {
            try ImageCodecsTests.warnings(of: Self.file(parts, isInterlaced: isInterlaced), like: whole)
        }
        for missing in 1...4 { #expect(try warnings([data.dropLast(missing)]) == [.missingChecksum]) }
        #expect(try warnings([data.dropLast() + [~(data.last ?? 0)]]) == [.wrongChecksum])
        #expect(try warnings([data.dropLast(4), [1, 2, 3, 4]]) == [.wrongChecksum])
        // The last pixel is missing.
        #expect(commonError(of: Self.file([data.dropLast(5)], isInterlaced: isInterlaced)) != nil)
    }

    @Test func bytesAfterTheCompressedPixelsAreAWarning() throws {
        let data = Self.data(isInterlaced: false)
        let whole = Self.file([data])
        #expect(try warnings(of: Self.file([data + [0, 1, 2]]), like: whole) == [.extraBytes])
        #expect(try warnings(of: Self.file([data, [0]]), like: whole) == [.extraBytes])
        let text = TestPNG.chunk("tEXt", Array("a\0b".utf8))
        let separate = Self.file([data], after: text + TestPNG.chunk("IDAT", [1, 2]))
        #expect(try warnings(of: separate, like: whole) == [.extraBytes])
        #expect(try warnings(of: Self.file([data], end: TestPNG.chunk("IEND", [1])), like: whole) == [.extraBytes])
        let noChunk = Self.file([data], after: [UInt8](repeating: 0, count: 40))
        #expect(try warnings(of: noChunk, like: whole) == [.extraBytes, .missingEnd])
    }

    @Test func moreCompressedPixelsThanDeclaredAreAWarning() throws {
        var taller = Self.image
        taller.height = 9
        taller.samples += (0..<54).map { $0 }
        let whole = Self.file([Self.data(isInterlaced: false)])
        #expect(try warnings(of: Self.file([TestPNG().data(of: taller)]), like: whole) == [.extraPixels])
        // Of as much data that it does not fit any buffer.
        taller.height = 9_000
        taller.samples = [Int](repeating: 3, count: 9 * 3 * 9_000)
        taller.samples.replaceSubrange(0..<189, with: Self.image.samples)
        #expect(try warnings(of: Self.file([TestPNG().data(of: taller)]), like: whole) == [.extraPixels])
    }

    @Test func wrongChecksumOfAChunkThatChangesNoPixelIsAWarning() throws {
        let data = Self.data(isInterlaced: false)
        let whole = Self.file([data])
        for name in ["tEXt", "zTXt", "iTXt", "tIME", "pHYs", "sBIT"] {
            let chunk = Self.damaged(TestPNG.chunk(name, [1, 2, 3, 4, 5, 6, 7]))
            #expect(try warnings(of: Self.file([data], after: chunk), like: whole) == [.wrongChecksum])
            let before = TestPNG(before: [chunk]).file(Self.image)
            #expect(try warnings(of: before, like: whole) == [.wrongChecksum])
        }
        #expect(try warnings(of: Self.file([data], end: Self.damaged(Self.end)), like: whole) == [.wrongChecksum])
    }

    @Test func wrongChecksumOfAChunkThatThePictureDependsOnIsAnError() throws {
        let chunks = [
            TestPNG.chunk("gAMA", [0, 0, 0xB1, 0x8F]), TestPNG.chunk("tRNS", [0, 1, 0, 2, 0, 3]),
            TestPNG.chunk("sRGB", [0]), TestPNG.chunk("teXt", [1]),
            TestPNG.chunk("eXIf", TestExif.bytes(orientation: 6)),
        ]
        for chunk in chunks {
            let file = TestPNG(before: [Self.damaged(chunk)]).file(Self.image)
            #expect(throws: CodecError.corrupt(.png, "a chunk with a wrong checksum")) {
                try ImageVerifier.verify(file.span)
            }
        }
        let data = Self.data(isInterlaced: false)
        let damaged = TestPNG.signature + Array(Self.file([]).dropFirst(8).dropLast(12))
        #expect(commonError(of: damaged + Self.damaged(TestPNG.chunk("IDAT", data)) + Self.end) != nil)
    }

    /// Some encoders declare a window that is smaller than the distances in the data.
    @Test func tooSmallWindowOfThePixelsIsAWarning() throws {
        let half = TestImage.noise(30, 20, seed: 4, isOpaque: true)
        var pixels = PixelBuffer(transparent: PixelSize(width: 30, height: 40))
        pixels.bytes = half.bytes + half.bytes
        let whole = try pixels.encoded(as: .png)
        let start = try #require(whole.indices.first { whole[$0...].starts(with: Array("IDAT".utf8)) })
        let length = whole[start - 4..<start].reduce(0) { $0 << 8 | Int($1) }
        var data = Array(whole[start + 4..<start + 4 + length])
        // 256 bytes, and the check bits.
        data[0] = 0x08
        data[1] = UInt8(31 - (0x0800 % 31))
        let file = Array(whole[..<(start - 4)]) + TestPNG.chunk("IDAT", data) + whole[(start + 8 + length)...]
        #expect(try warnings(of: file, like: whole) == [.smallWindow])
        // A small window is right for data with short distances.
        var stored = Self.data(isInterlaced: false)
        (stored[0], stored[1]) = (0x08, UInt8(31 - (0x0800 % 31)))
        #expect(try warnings(of: Self.file([stored]), like: Self.file([stored])) == [])
    }

    @Test func apngThatEndsAfterItsLastFrameIsComplete() throws {
        let encoder = try AnimationEncoder(options: .png(PNGOptions()), size: PixelSize(width: 8, height: 6))
        for seed in 1...3 as ClosedRange<UInt64> {
            try encoder.append(TestImage.noise(8, 6, seed: seed, isOpaque: true), delay: .milliseconds(50))
        }
        let whole = try encoder.finish()
        #expect(try ImageVerifier.verify(whole.span).warnings == [])
        let cut = Array(whole.dropLast(12))
        #expect(try ImageVerifier.verify(cut.span).warnings == [.missingEnd])
        let animation = try AnimatedImage(cut)
        #expect(animation.header.warnings == [.missingEnd] && !animation.isPartial && animation.frameCount == 3)
        #expect(try animation.allFrames() == AnimatedImage(whole).allFrames())
        for missing in [13, 20, 60] { #expect(commonError(of: whole.dropLast(missing)) == .truncated(.png)) }
    }
}
