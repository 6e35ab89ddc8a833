import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct PNGVerifierTests {
    private static let image = TestPNG.Image(
        width: 9, height: 7, depth: 8, colorType: 2, samples: (0..<189).map { $0 * 7 % 256 })

    /// A PNG of the image with `data` in its `IDAT` chunks.
    private func file(idat data: [[UInt8]], isInterlaced: Bool = false) -> [UInt8] {
        let header = TestPNG.number(9) + TestPNG.number(7) + [8, 2, 0, 0, isInterlaced ? 1 : 0]
        return TestPNG.signature + TestPNG.chunk("IHDR", header) + data.flatMap { TestPNG.chunk("IDAT", $0) }
            + TestPNG.chunk("IEND", [])
    }

    private func rows(_ count: Int, filter: UInt8 = 0) -> [UInt8] {
        (0..<count).flatMap { row in [filter] + (0..<27).map { UInt8(row * 27 + $0) } }
    }

    private func error(_ file: [UInt8]) -> CodecError? {
        do throws(CodecError) {
            _ = try ImageVerifier.verify(file.span)
            return nil
        } catch {
            return error
        }
    }

    /// Returns whether a file fails verification, or has warnings and still shows the same.
    private func isNoticed(_ file: [UInt8], in original: SmallFile) throws -> Bool {
        guard error(file) == nil else { return true }
        let warnings = try ImageVerifier.verify(file.span).warnings
        return try !warnings.isEmpty && AnimatedImage(file).allFrames() == AnimatedImage(original.bytes).allFrames()
    }

    @Test(arguments: SmallFile.png)
    func pngVerifierFindsAnyChangedByte(file: SmallFile) throws {
        for offset in file.bytes.indices {
            for change in [1, 0x20, 0xFF] as [UInt8] {
                var damaged = file.bytes
                damaged[offset] ^= change
                #expect(try isNoticed(damaged, in: file), "byte \(offset)")
            }
        }
    }

    @Test(arguments: SmallFile.png)
    func pngVerifierFindsTruncationAnywhere(file: SmallFile) throws {
        for end in 0..<file.bytes.count {
            #expect(try isNoticed(Array(file.bytes[..<end]), in: file), "\(end) bytes")
        }
    }

    @Test func pngVerifierAcceptsDataChunksOfAnyLength() {
        let data = TestPNG.stored(rows(7))
        #expect(error(file(idat: [data])) == nil)
        #expect(error(file(idat: data.map { [$0] })) == nil)
        #expect(error(file(idat: [[], data, []])) == nil)
    }

    @Test func pngVerifierRequiresAllRows() {
        #expect(error(file(idat: [TestPNG.stored(rows(6))])) == .corrupt(.png, "the image data ends too early"))
        let whole = TestPNG.stored(rows(7))
        #expect(error(file(idat: [whole.dropLast(5)])) == .corrupt(.png, "the image data ends too early"))
    }

    @Test func pngVerifierRejectsInvalidFiltersAndCompression() {
        #expect(error(file(idat: [TestPNG.stored(rows(7, filter: 5))])) == .corrupt(.png, "an unknown filter"))
        var data = TestPNG.stored(rows(7))
        data[4] ^= 1
        #expect(error(file(idat: [data])) == .corrupt(.png, "image data that cannot be decompressed"))
    }

    @Test(arguments: 1...20)
    func interlacedPNGsOfEverySizePassVerification(side: Int) {
        for height in [1, 2, 3, 5, 8, 9] {
            for depth in [1, 8, 16] {
                let image = TestPNG.Image(
                    width: side, height: height, depth: depth, colorType: 0,
                    samples: [Int](repeating: 1, count: side * height))
                #expect(error(TestPNG(isInterlaced: true).file(image)) == nil, "\(side)x\(height), \(depth) bits")
                #expect(error(TestPNG().file(image)) == nil, "\(side)x\(height), \(depth) bits")
            }
        }
    }

    @Test func interlacedPNGVerificationNeedsNoMoreMemory() {
        var header = ImageHeader(format: .png, size: PixelSize(width: 0x3FFF, height: 0x3FFF))
        header.isProgressive = true
        #expect(PNGVerifier.workingBytes(of: header, beginning: [UInt8]().span) < 1 << 20)
    }

    @Test func unknownCriticalPNGChunksFailVerification() {
        #expect(
            error(TestPNG(before: [TestPNG.chunk("ABCD", [])]).file(Self.image))
                == .corrupt(.png, "an unknown critical chunk"))
        #expect(error(TestPNG(after: [TestPNG.chunk("abCD", [1])]).file(Self.image)) == nil)
    }

    @Test func indexedPNGNeedsExactlyOnePalette() {
        let image = TestPNG.Image(width: 2, height: 1, depth: 8, colorType: 3, samples: [0, 1])
        let palette = TestPNG.chunk("PLTE", [0, 0, 0, 255, 255, 255])
        #expect(error(TestPNG(before: [palette]).file(image)) == nil)
        #expect(error(TestPNG().file(image)) == .corrupt(.png, "no palette before the image data"))
        #expect(error(TestPNG(before: [palette, palette]).file(image)) == .corrupt(.png, "a second palette"))
    }

    @Test(arguments: [2, 4])
    func numberOfFramesMustBeTheDeclaredOne(declared: Int) {
        let file = TestAnimation.apng(TestAnimation.layers(3, seed: 1, alphas: [255]), declaredFrames: declared)
        #expect(error(file) == .corrupt(.png, "3 frames instead of \(declared)"))
    }

    @Test func pngVerifierReportsOrientationAfterThePixels() throws {
        let file = TestPNG(after: [TestPNG.chunk("eXIf", TestExif.bytes(orientation: 6))]).file(Self.image)
        #expect(try ImageVerifier.verify(file.span).orientation == .right)
    }
}
