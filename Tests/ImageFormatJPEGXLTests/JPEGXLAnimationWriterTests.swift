#if JPEGXL
import ImageCodecs
import ImageEncoders
import ImageFormatJPEGXL
import ImageTestSupport
import Testing

struct JPEGXLAnimationWriterTests {
    private static let formats: [any CustomFormat] = [JPEGXLAnimationFormat(), JPEGXLFormat()]
    private static let lossless = EncodeOptions.jpegXL(JPEGXLEncoder(isLossless: true, effort: 3))

    private func file(
        _ frames: [PixelBuffer], _ options: EncodeOptions = lossless, delay: Duration = .milliseconds(120),
        repetitionCount: Int = 0
    ) throws -> [UInt8] {
        let encoder = try AnimationEncoder(
            options: options, size: frames[0].size, repetitionCount: repetitionCount)
        for frame in frames { try encoder.append(frame, delay: delay) }
        return try encoder.finish()
    }

    @Test(arguments: [true, false]) func losslessAnimationHasTheSameFrames(hasAlpha: Bool) throws {
        let frames = try TestImages.wanderingSquare(6, hasAlpha: hasAlpha)
        let image = try AnimatedImage(file(frames, repetitionCount: 3), customFormats: Self.formats)
        #expect(image.delays == Array(repeating: .milliseconds(120), count: 6))
        #expect(image.repetitionCount == 3)
        let decoder = AnimationDecoder(image, windowBytes: 0)
        for index in [0, 1, 2, 3, 4, 5, 1, 4, 0, 5] {
            #expect(try decoder.frame(at: index) == frames[index], "frame \(index)")
        }
    }

    @Test(.enabled(if: TestJPEGXL.hasTools, "needs cjxl, djxl, and cjpeg"), arguments: [true, false])
    func framesAreThoseOfDjxl(isLossless: Bool) throws {
        let frames = try TestImages.wanderingSquare(4, hasAlpha: true)
        let file = try file(frames, .jpegXL(JPEGXLEncoder(quality: 90, isLossless: isLossless)))
        let decoded = try AnimatedImage(file, customFormats: Self.formats).allFrames()
        for (frame, reference) in try zip(decoded, TestJPEGXL.referenceFrames(file)) {
            let errors = zip(frame.bytes, reference.bytes).map { abs(Int($0) - Int($1)) }
            #expect(errors.allSatisfy { $0 <= (isLossless ? 0 : 1) })
        }
    }

    @Test func changesTakeFewBytes() throws {
        let first = TestImage.photo(200, 150)
        var second = first
        for y in 70..<80 {
            for x in 90..<100 { second.bytes[(y * 200 + x) * 4] ^= 0x80 }
        }
        let whole = try file([first]).count
        #expect(try file([first, second, first, first]).count < whole * 11 / 10)
    }

    @Test func lossyFramesAreThoseOfStillImages() throws {
        let frames = (1...3).map { TestImage.photo(120, 90, seed: $0) }
        let image = try AnimatedImage(file(frames, .jpegXL()), customFormats: Self.formats)
        func error(_ decoded: PixelBuffer, _ frame: PixelBuffer) -> Int {
            zip(decoded.bytes, frame.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        }
        for (decoded, frame) in try zip(image.allFrames(), frames) {
            let still = try frame.encoded(with: .jpegXL())
            let reference = try StreamingDecoder.decode(still.span, customFormats: [JPEGXLFormat()]).pixels
            #expect(error(decoded, frame) <= error(reference, frame) * 11 / 10)
        }
    }

    @Test func framesWithoutDelaysAndEqualFramesAreKept() throws {
        let frames = try TestImages.wanderingSquare(2)
        let image = try AnimatedImage(
            file([frames[0], frames[0], frames[1], frames[1]], delay: .zero), customFormats: Self.formats)
        #expect(image.frameCount == 4)
        #expect(try image.allFrames() == [frames[0], frames[0], frames[1], frames[1]])
    }

    @Test func singleFrameAndTheLongestDelayAreStored() throws {
        let frame = TestImage.photo(12, 8)
        let single = try AnimatedImage(file([frame]), customFormats: Self.formats)
        #expect(try single.allFrames() == [frame])
        let image = try AnimatedImage(file([frame, frame], delay: .seconds(1 << 40)), customFormats: Self.formats)
        #expect(image.delays == Array(repeating: .milliseconds(Int(UInt32.max)), count: 2))
    }

    @Test func metadataIsStored() throws {
        let frames = try TestImages.wanderingSquare(3)
        let metadata = ImageMetadata(exif: TestExif.bytes(orientation: 1))
        let encoder = try AnimationEncoder(options: Self.lossless, size: frames[0].size, metadata: metadata)
        for frame in frames { try encoder.append(frame, delay: .milliseconds(40)) }
        let file = try encoder.finish()
        #expect(ImageMetadata(file: file.span, customFormats: Self.formats) == metadata)
        #expect(try AnimatedImage(file, customFormats: Self.formats).allFrames() == frames)
    }

    @Test func fileGrowsWithItsFramesUpToTheLimit() throws {
        let frames = (1...5).map { TestImage.noise(60, 40, seed: $0, isOpaque: true) }
        let encoder = try AnimationEncoder(options: Self.lossless, size: frames[0].size)
        var counts: [Int] = []
        for frame in frames {
            try encoder.append(frame, delay: .milliseconds(40))
            counts.append(encoder.byteCount)
        }
        // One frame is held back.
        #expect(counts[0] == 0 && zip(counts, counts.dropFirst()).allSatisfy { $1 > $0 + 5_000 })
        let limited = try AnimationEncoder(options: Self.lossless, size: frames[0].size, maximumBytes: counts[2])
        for frame in frames[..<3] { try limited.append(frame, delay: .milliseconds(40)) }
        #expect(throws: CodecError.self) { try limited.append(frames[3], delay: .milliseconds(40)) }
    }

    @Test func memoryIsThatOfTransparentImages() {
        let encoder = JPEGXLEncoder()
        let size = PixelSize(width: 1_000, height: 1_000)
        #expect(
            encoder.animationBytes(for: size) == encoder.workingBytes(for: size, hasAlpha: true) + 8_000_000)
        #expect(encoder.storesAnimations && encoder.limitsAnimations)
    }

    @Test func sizeThatTheFormatCannotStoreIsAnError() {
        #expect(throws: CodecError.encodingFailed(.jpegXL, "more than 262144 pixels on one side")) {
            try AnimationEncoder(options: .jpegXL(), size: PixelSize(width: 262_145, height: 1))
        }
    }

    @Test func encodingStopsWhenItsTaskIsCanceled() async throws {
        let frame = TestImage.photo(20, 10)
        let task = Task {
            let encoder = try AnimationEncoder(options: .jpegXL(), size: frame.size)
            withUnsafeCurrentTask { $0?.cancel() }
            try encoder.append(frame, delay: .zero)
        }
        let result = await task.result
        #expect(throws: CodecError.cancelled(.jpegXL)) { try result.get() }
    }
}
#endif
