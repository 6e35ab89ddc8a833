import ImageCodecs
import ImageEncoders
import ImageTestSupport
import Testing

/// The maximum size of encoded animations.
struct AnimationLimitTests {
    static let formats: [ImageFormat] = [.gif, .png, .webp]

    /// Noise, so that all frames take about the same number of bytes.
    private let frames = (0..<20).map { TestImage.noise(32, 32, seed: UInt64($0), isOpaque: true) }

    private func makeEncoder(_ format: ImageFormat, maximumBytes: Int) throws -> AnimationEncoder {
        try AnimationEncoder(options: try EncodeOptions(format), size: frames[0].size, maximumBytes: maximumBytes)
    }

    private func append(_ frames: [PixelBuffer], to encoder: AnimationEncoder) throws {
        for frame in frames { try encoder.append(frame, delay: .milliseconds(200)) }
    }

    @Test(arguments: formats)
    func encodingEndsWithTheFrameThatExceedsTheLimit(format: ImageFormat) throws {
        let limit = try animation(of: frames, as: format).count / 2
        let encoder = try makeEncoder(format, maximumBytes: limit)
        var count = 0
        let error = #expect(throws: CodecError.self) {
            for frame in frames {
                try encoder.append(frame, delay: .milliseconds(200))
                count += 1
            }
        }
        #expect(error?.description.contains("take more than the limit of \(limit) bytes") == true)
        #expect((8...12).contains(count))
        #expect(encoder.byteCount > limit && encoder.byteCount < limit * 5 / 4)
    }

    @Test(arguments: formats)
    func animationOfExactlyTheMaximumSizeIsUnchanged(format: ImageFormat) throws {
        let file = try animation(of: frames, as: format)
        let encoder = try makeEncoder(format, maximumBytes: file.count)
        try append(frames, to: encoder)
        #expect(try encoder.finish() == file)
        #expect(encoder.byteCount == file.count)
        let smaller = try makeEncoder(format, maximumBytes: file.count - 1)
        #expect(throws: CodecError.self) {
            try append(frames, to: smaller)
            _ = try smaller.finish()
        }
    }

    @Test(arguments: [ImageFormat.png, .webp], [false, true])
    func allBytesOfTheFileAreCountedWithTheFrames(format: ImageFormat, hasAlpha: Bool) throws {
        var frames = frames
        // An APNG compresses the frames before it again.
        if hasAlpha { frames[10] = TestImage.noise(32, 32, seed: 30, isOpaque: false) }
        let encoder = try makeEncoder(format, maximumBytes: 1 << 20)
        try append(frames, to: encoder)
        let count = encoder.byteCount
        #expect(try encoder.finish().count == count)
    }

    @Test(arguments: formats)
    func convertedAnimationsAreLimited(format: ImageFormat) throws {
        let image = try AnimatedImage(animation(of: frames, as: .png))
        let options = try EncodeOptions(format)
        #expect(throws: CodecError.self) { try image.encoded(with: options, maximumBytes: 5_000) }
        #expect(try AnimatedImage(image.encoded(with: options, maximumBytes: 1 << 20)).frameCount == 20)
    }
}
