import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// The limits of time and memory for large and long animations.
///
/// A full canvas for every frame would take minutes, and gigabytes.
@Suite(.timeLimit(.minutes(2)))
struct AnimationCostTests {
    private static let side = 16_383
    private static let small = DecodeOptions(target: .maximumSide(64))

    /// A canvas of 268 million pixels, and frames of a single one along its diagonal.
    private static func file(_ count: Int) -> [UInt8] {
        let frames = (0..<count).map { index in
            TestGIF.Frame(left: index, top: index, width: 1, height: 1, indices: [0], disposal: UInt8(index % 4))
        }
        return TestGIF(width: side, height: side).file(frames)
    }

    @Test func pixelsOfAllFramesAreLimitedByDefault() throws {
        #expect(DecodeLimits().maximumWork == 1 << 31)
        #expect(try AnimatedImage(Self.file(4)).frameCount == 4)
        // A frame counts twice.
        let error = CodecError.overLimit(.work, value: 10 * Self.side * Self.side, limit: 1 << 31)
        #expect(throws: error) { try AnimatedImage(Self.file(5)) }
    }

    @Test func smallFramesOnAHugeCanvasDecodeQuickly() throws {
        let limits = DecodeLimits(maximumWork: 1 << 35)
        let options = DecodeOptions(target: .maximumSide(512))
        let image = try AnimatedImage(Self.file(20), options: options, limits: limits)
        #expect(image.size == PixelSize(width: 512, height: 512))
        let decoder = AnimationDecoder(image, windowBytes: 0)
        for index in 0..<image.frameCount { #expect(try decoder.frame(at: index).size == image.size) }
        // Going back starts over.
        #expect(try decoder.frame(at: 2).size == image.size)
    }

    @Test func memoryEstimateDependsOnFrameAreas() throws {
        let canvas = Self.side * Self.side * 4
        #expect(try AnimatedImage(Self.file(3), options: Self.small).estimatedBytes < 60 << 20)
        // Without scaling, the result itself takes this memory.
        #expect(try AnimatedImage(Self.file(3)).estimatedBytes > canvas)
        let turned = DecodeOptions(pixelFormat: .gray8)
        #expect(try AnimatedImage(Self.file(3), options: turned).estimatedBytes > canvas / 4)

        func estimate(_ frames: [TestGIF.Frame], _ options: DecodeOptions) throws -> Int {
            try AnimatedImage(TestGIF(width: 2_000, height: 1_000).file(frames), options: options).estimatedBytes
        }
        let pixel = TestGIF.Frame(width: 1, height: 1, indices: [0])
        let all = TestGIF.Frame(width: 2_000, height: 1_000, indices: [0])
        let both = try estimate([pixel, all], Self.small)
        #expect(both > 2_000 * 1_000 * 4)
        var restored = all
        restored.disposal = 3
        #expect(try estimate([pixel, restored], Self.small) == both + 2_000 * 1_000 * 4)
        #expect(try estimate([all, pixel], DecodeOptions()) < 2 * 2_000 * 1_000 * 4)
    }

    /// Two frames, in a file that is larger than they are.
    private static func webP(isLossless: [Bool]) throws -> [UInt8] {
        let size = PixelSize(width: 40, height: 30)
        var frames: [UInt8] = []
        for isLossless in isLossless {
            let still = try TestImages.photo(width: 40, height: 30)
                .encoded(with: .webp(WebPOptions(isLossless: isLossless)))
            let chunks = still[12...]
            frames += riff("ANMF", [0, 0, 0, 0, 0, 0, 39, 0, 0, 29, 0, 0, 100, 0, 0, 0] + chunks)
        }
        let canvas: [UInt8] = [2, 0, 0, 0, UInt8(size.width - 1), 0, 0, UInt8(size.height - 1), 0, 0]
        let chunks =
            riff("VP8X", canvas) + riff("ANIM", [0, 0, 0, 0, 0, 0]) + frames
            + riff("JUNK", [UInt8](repeating: 0, count: 1 << 20))
        return riff("RIFF", Array("WEBP".utf8) + chunks)
    }

    private static func riff(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let length = (0..<4).map { UInt8(truncatingIfNeeded: data.count >> ($0 * 8)) }
        return Array(name.utf8) + length + data + (data.count.isMultiple(of: 2) ? [] : [0])
    }

    @Test func onlyLosslessFramesOfAWebPTakeTables() throws {
        let lossy = try AnimatedImage(Self.webP(isLossless: [false, false])).estimatedBytes
        let mixed = try AnimatedImage(Self.webP(isLossless: [false, true])).estimatedBytes
        #expect(lossy < 2 << 20)
        // The estimate depends on the size of the frame, not on that of the file.
        #expect(mixed - lossy > 2 << 20 && mixed - lossy < 4 << 20)
        for isLossless in [[false, false], [true, false], [false, true]] {
            let image = try AnimatedImage(Self.webP(isLossless: isLossless))
            #expect(try image.allFrames().count == 2)
        }
    }

    @Test func invisibleFramesAreNotDecoded() throws {
        // The second frame's data ends too early; it lies left of the visible area of the fill.
        let first = TestGIF.Frame(width: 20, height: 4, indices: [UInt8](repeating: 1, count: 80))
        let broken = TestGIF.Frame(width: 2, height: 2, indices: [0])
        let last = TestGIF.Frame(left: 9, top: 1, width: 1, height: 1, indices: [0])
        let file = TestGIF(width: 20, height: 4).file([first, broken, last])
        let options = DecodeOptions(target: .fill(PixelSize(width: 4, height: 4)))
        let frames = try AnimatedImage(file, options: options).allFrames()
        #expect(frames[0] == frames[1])
        #expect(frames[2][1, 1].red == 255 && frames[2][0, 0].green == 255)
        let whole = AnimationDecoder(try AnimatedImage(file), windowBytes: 0)
        #expect(throws: CodecError.self) { try whole.frame(at: 1) }
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp])
    func decodingLaterFramesDoesNotChangeKeptOnes(format: ImageFormat) throws {
        let file = try TestAnimation.file(format, count: 6, seed: 4)
        for options in [DecodeOptions(), DecodeOptions(target: .maximumSide(5)), DecodeOptions(pixelFormat: .bgra8)] {
            let image = try AnimatedImage(file, options: options)
            let kept = try image.allFrames()
            let decoder = AnimationDecoder(image, windowBytes: 0)
            for index in kept.indices { #expect(try decoder.frame(at: index) == kept[index], "frame \(index)") }
        }
    }
}
