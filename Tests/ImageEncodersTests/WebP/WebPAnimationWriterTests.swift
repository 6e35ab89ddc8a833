import ImageCodecs
import ImageEncoders
import ImageTestSupport
import Testing

struct WebPAnimationWriterTests {
    private let lossless = EncodeOptions.webp(WebPOptions(isLossless: true))

    /// A frame in a file.
    private struct Stored: Equatable {
        var left: Int
        var top: Int
        var width: Int
        var height: Int
        var isBlended: Bool
        /// A Boolean value that indicates whether viewers clear the frame before the next one.
        var isCleared: Bool
    }

    private func file(_ frames: [PixelBuffer], _ options: EncodeOptions) throws -> [UInt8] {
        let encoder = try AnimationEncoder(options: options, size: frames[0].size)
        for frame in frames { try encoder.append(frame, delay: .milliseconds(200)) }
        return try encoder.finish()
    }

    private func storedFrames(_ file: [UInt8]) throws -> [Stored] {
        var frames: [Stored] = []
        var offset = 12
        while let length = file.span.littleEndian32(at: offset + 4) {
            if file.span.has("ANMF", at: offset) {
                let numbers = try (0..<4).map { try file.span.littleEndian24(at: offset + 8 + 3 * $0).unwrapped() }
                let flags = try file.span.byte(at: offset + 23).unwrapped()
                frames.append(
                    Stored(
                        left: numbers[0] * 2, top: numbers[1] * 2, width: numbers[2] + 1, height: numbers[3] + 1,
                        isBlended: flags & 2 == 0, isCleared: flags & 1 == 1))
            }
            offset += 8 + length + length & 1
        }
        return frames
    }

    /// Returns frames of a square of noise that moves by 10 pixels at a time over `background`.
    private func moving(_ count: Int, over background: PixelBuffer) -> [PixelBuffer] {
        let square = TestImage.noise(8, 8, seed: 5, isOpaque: true)
        return (0..<count).map { index in
            var frame = background
            for y in 0..<8 {
                let target = ((y + 4) * background.width + index * 10) * 4
                frame.bytes.replace(at: target, with: square.bytes.span.extracting(y * 32..<y * 32 + 32))
            }
            return frame
        }
    }

    /// Frames of which some pixels are transparent.
    private func translucentAnimations() throws -> [[PixelBuffer]] {
        // The pixels at one corner of the changed rectangles are translucent and never change.
        var corners = try TestImages.wanderingSquare(5)
        for frame in corners.indices {
            for index in 0..<5 { corners[frame].bytes[(index * 24 + 2 * index + 7) * 4 + 3] = 100 }
        }
        return [
            try TestImages.wanderingSquare(6, hasAlpha: true), corners,
            (0..<4).map { TestImage.noise(24, 16, seed: $0, isOpaque: false) },
            moving(4, over: PixelBuffer(transparent: PixelSize(width: 50, height: 16))),
            moving(4, over: TestImage.noise(50, 16, seed: 9, isOpaque: false)),
        ]
    }

    @Test func losslessAnimationsWithTransparencyAreExact() throws {
        for frames in try translucentAnimations() {
            #expect(try AnimatedImage(file(frames, lossless)).allFrames() == frames)
        }
    }

    @Test func lossyAnimationsWithTransparencyKeepAlphaExactly() throws {
        func alpha(_ pixels: PixelBuffer) -> [UInt8] {
            stride(from: 3, to: pixels.bytes.count, by: 4).map { pixels.bytes[$0] }
        }
        for frames in try translucentAnimations() {
            let decoded = try AnimatedImage(file(frames, .webp())).allFrames()
            #expect(decoded.map(alpha) == frames.map(alpha))
        }
    }

    @Test func onlyTheChangedRectangleIsStored() throws {
        let frames = moving(3, over: TestImage.photo(50, 16))
        let stored = try storedFrames(file(frames, lossless))
        let first = Stored(left: 0, top: 0, width: 50, height: 16, isBlended: false, isCleared: false)
        let second = Stored(left: 0, top: 4, width: 18, height: 8, isBlended: true, isCleared: false)
        let third = Stored(left: 10, top: 4, width: 18, height: 8, isBlended: true, isCleared: false)
        #expect(stored == [first, second, third])
    }

    @Test func aFrameIsClearedIfTheNextOneIsSmallerThen() throws {
        let frames = moving(3, over: PixelBuffer(transparent: PixelSize(width: 50, height: 16)))
        let stored = try storedFrames(file(frames, lossless))
        let first = Stored(left: 0, top: 0, width: 50, height: 16, isBlended: false, isCleared: true)
        let second = Stored(left: 10, top: 4, width: 8, height: 8, isBlended: false, isCleared: true)
        let third = Stored(left: 20, top: 4, width: 8, height: 8, isBlended: false, isCleared: false)
        #expect(stored == [first, second, third])
    }

    @Test(arguments: [false, true])
    func unchangedFramesExtendTheOneBefore(isLossless: Bool) throws {
        let (first, second) = (TestImage.photo(20, 10), TestImage.photo(20, 10, seed: 2))
        let options = EncodeOptions.webp(WebPOptions(isLossless: isLossless))
        let image = try AnimatedImage(file([first, first, first, second, second], options))
        #expect(image.delays == [.milliseconds(600), .milliseconds(400)])
    }

    @Test(arguments: [2, 5], [false, true])
    func animationOfEqualFramesKeepsItsTimingAndLoops(count: Int, isLossless: Bool) throws {
        let frame = TestImage.noise(20, 10, seed: 3, isOpaque: !isLossless)
        let encoder = try AnimationEncoder(
            options: .webp(WebPOptions(isLossless: isLossless)), size: frame.size, repetitionCount: 3)
        for _ in 0..<count { try encoder.append(frame, delay: .milliseconds(200)) }
        let image = try AnimatedImage(encoder.finish())
        #expect(image.delays == [.milliseconds(200 * (count - 1)), .milliseconds(200)])
        #expect(image.repetitionCount == 3)
        let frames = try image.allFrames()
        #expect(frames[0] == frames[1] && (!isLossless || frames[0] == frame))
    }

    /// Otherwise, viewers that ignore alpha show black there.
    @Test func fileOfOpaqueFramesThatAreClearedDeclaresAlpha() throws {
        let size = PixelSize(width: 16, height: 8)
        let first = TestImage.noise(16, 8, seed: 1, isOpaque: true)
        var second = PixelBuffer(transparent: size)
        second.bytes.replace(at: 0, with: first.bytes.span.extracting(first: 32))
        let file = try file([first, second], lossless)
        #expect(try storedFrames(file).map(\.isCleared) == [true, false])
        #expect(file[20] & 0x10 != 0)
        #expect(try AnimatedImage(file).allFrames() == [first, second])
    }

    @Test func frameThatCannotBeExtendedIsFollowedByOneOfOnePixel() throws {
        let frame = TestImage.photo(20, 10)
        let encoder = try AnimationEncoder(options: lossless, size: frame.size)
        for _ in 0..<2 { try encoder.append(frame, delay: .seconds(16_000)) }
        let file = try encoder.finish()
        #expect(try AnimatedImage(file).delays == [.seconds(16_000), .seconds(16_000)])
        #expect(try storedFrames(file).map(\.width) == [20, 1])
        #expect(try AnimatedImage(file).allFrames() == [frame, frame])
    }

    @Test(arguments: [false, true])
    func animationOfOneFrameIsAStillImage(isOpaque: Bool) throws {
        let frame = TestImage.noise(20, 10, seed: 4, isOpaque: isOpaque)
        let metadata = ImageMetadata(colorProfile: TestProfile.bytes("RGB "), exif: TestExif.bytes(orientation: 1))
        for metadata in [ImageMetadata(), metadata] {
            let encoder = try AnimationEncoder(options: lossless, size: frame.size, metadata: metadata)
            try encoder.append(frame, delay: .milliseconds(200))
            let file = try encoder.finish()
            #expect(try probe(file)?.frameCount == 1)
            #expect(try decode(file, options: DecodeOptions(keepsProfile: true)).pixels == frame)
            #expect(ImageMetadata(file: file.span) == metadata)
            if ReferenceDecoder.has("dwebp") { #expect(try ReferenceDecoder.decodeWebP(file) == frame.bytes) }
        }
        let lossy = try file([frame], .webp())
        #expect(try decode(lossy).pixels == decode(frame.encoded(as: .webp)).pixels)
    }

    @Test func slowFadeOfALossyAnimationReachesItsEnd() throws {
        let size = PixelSize(width: 32, height: 32)
        let frames = try (0..<20).map { index in
            let pixel: [UInt8] = [100 + UInt8(index), 100, 100, 255]
            return try PixelBuffer(size: size, bytes: (0..<size.area).flatMap { _ in pixel }).unwrapped()
        }
        let decoded = try #require(try AnimatedImage(file(frames, .webp())).allFrames().last)
        #expect(abs(Int(decoded[16, 16].red) - 119) < 8)
    }
}
