import ImageCodecs
import ImageEncoders
import ImageTestSupport
import Testing

@Suite
struct AnimationEncoderTests {
    static let formats: [ImageFormat] = [.gif, .png, .webp]

    @Test(arguments: [ImageFormat.gif, .png], [false, true])
    func gifAndPNGAnimationsPreserveFramesExactly(format: ImageFormat, hasAlpha: Bool) throws {
        let frames = try TestImages.wanderingSquare(6, hasAlpha: hasAlpha)
        let image = try AnimatedImage(animation(of: frames, as: format))
        #expect(try image.allFrames() == frames)
    }

    @Test(arguments: [false, true])
    func lossyWebPAnimationApproximatesFrames(hasAlpha: Bool) throws {
        // Large, because lossy WebP halves the resolution of colors.
        let frames = (0..<3).map { index in
            var frame = TestImage.photo(64, 48, seed: UInt64(index))
            if hasAlpha { for offset in 0..<64 * 20 { frame.bytes[offset * 4 + 3] = 0 } }
            return frame
        }
        let image = try AnimatedImage(animation(of: frames, as: .webp, quality: 100))
        for (frame, decoded) in zip(frames, try image.allFrames()) {
            let alpha = stride(from: 3, to: frame.bytes.count, by: 4)
            #expect(alpha.map { frame.bytes[$0] } == alpha.map { decoded.bytes[$0] })
            let visible = alpha.filter { frame.bytes[$0] > 0 }
            let differences = visible.map { abs(Int(frame.bytes[$0 - 3]) - Int(decoded.bytes[$0 - 3])) }
            #expect(differences.reduce(0, +) / differences.count < 20)
        }
    }

    @Test(arguments: [(ImageFormat.gif, 65_536), (.png, 65_536), (.png, 0x7FFF_FFFF), (.webp, 65_535)])
    func largestRepetitionCountOfAFormatIsKept(format: ImageFormat, largest: Int) throws {
        for count in [largest, .max] {
            let file = try animation(
                of: TestImages.wanderingSquare(2), as: format, delay: .milliseconds(50), repetitionCount: count)
            let expected = format == .png ? min(count, 0x7FFF_FFFF) : largest
            #expect(try AnimatedImage(file).repetitionCount == expected)
        }
    }

    @Test(arguments: formats, [0, 1, 2, 7])
    func animationEncoderPreservesLoopsAndDelays(format: ImageFormat, repetitionCount: Int) throws {
        let file = try animation(
            of: TestImages.wanderingSquare(3), as: format, delay: .milliseconds(250), repetitionCount: repetitionCount)
        let image = try AnimatedImage(file)
        #expect(image.repetitionCount == repetitionCount)
        #expect(image.delays == [.milliseconds(250), .milliseconds(250), .milliseconds(250)])
        #expect(image.duration == .milliseconds(750))
        #expect(image.header.frameCount == 3)
    }

    @Test(arguments: [ImageFormat.gif, .png])
    func unchangedFramesTakeLittleSpace(format: ImageFormat) throws {
        let frame = try TestImages.photo(width: 64, height: 64)
        let one = try animation(of: [frame], as: format)
        let ten = try animation(of: [PixelBuffer](repeating: frame, count: 10), as: format)
        #expect(ten.count < one.count + 9 * 120)
        #expect(try AnimatedImage(ten).frameCount == 10)
    }

    @Test(arguments: formats)
    func delayBeyondTheMaximumOfTheFormatIsClamped(format: ImageFormat) throws {
        let file = try animation(of: TestImages.wanderingSquare(2), as: format, delay: .seconds(1 << 40))
        #expect(try AnimatedImage(file).delay(at: 0) >= .seconds(655))
    }

    /// Viewers show a delay of one hundredth of a second, the shortest that GIF can store, for ten.
    @Test(arguments: [(1, 20), (5, 20), (10, 20), (14, 20), (15, 20), (24, 20), (25, 30)])
    func shortGIFDelaysAreAtLeastTwoHundredths(milliseconds: Int, stored: Int) throws {
        let file = try animation(of: TestImages.wanderingSquare(2), as: .gif, delay: .milliseconds(milliseconds))
        #expect(try AnimatedImage(file).delays == [.milliseconds(stored), .milliseconds(stored)])
    }

    @Test(arguments: formats)
    func animationFramesOfAnotherSizeAreRejected(format: ImageFormat) throws {
        let frames = [try TestImages.drawing(width: 5, height: 4), try TestImages.drawing(width: 4, height: 4)]
        #expect(throws: CodecError.self) { try animation(of: frames, as: format) }
        #expect(throws: CodecError.encodingFailed(format, "it has no frames")) { try animation(of: [], as: format) }
    }

    @Test
    func unsupportedAnimationsAreRejected() {
        let wide = PixelSize(width: 65_536, height: 1)
        #expect(throws: CodecError.self) { try AnimationEncoder(format: .gif, size: wide) }
        #expect(throws: CodecError.self) { try AnimationEncoder(format: .webp, size: wide) }
        #expect(throws: CodecError.self) { try AnimationEncoder(format: .jpeg, size: PixelSize(width: 1, height: 1)) }
        #expect(throws: CodecError.self) { try AnimationEncoder(format: .png, size: PixelSize(width: 0, height: 1)) }
    }

    @Test
    func frameIsClearedIfTheNextOneIsTransparentThere() throws {
        let empty = PixelBuffer(transparent: PixelSize(width: 4, height: 3))
        let full = try TestImages.drawing(width: 4, height: 3)
        let frames = [full, empty, full, full, empty]
        #expect(try AnimatedImage(animation(of: frames, as: .gif)).allFrames() == frames)
        #expect(try AnimatedImage(animation(of: frames, as: .png)).allFrames() == frames)
    }

    @Test
    func animationsCanBeConvertedBetweenFormats() throws {
        let frames = try TestImages.wanderingSquare(4)
        let gif = try AnimatedImage(animation(of: frames, as: .gif, repetitionCount: 3))
        let png = try AnimatedImage(gif.encoded(as: .png))
        #expect(try png.allFrames() == frames)
        #expect((png.repetitionCount, png.duration) == (3, gif.duration))
        let again = try AnimatedImage(AnimatedImage(png.encoded(as: .webp)).encoded(as: .gif))
        #expect((again.frameCount, again.repetitionCount, again.duration) == (4, 3, gif.duration))
    }
}
