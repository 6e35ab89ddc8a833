import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Small files of every kind, truncated at every byte and damaged at random (identically in every run): decoding gives
/// an image or an error.
@Suite(.timeLimit(.minutes(5)))
struct MutationTests {
    private static let limits = DecodeLimits(
        maximumPixels: 1 << 14, maximumBytes: 1 << 16, maximumScans: 20, maximumFrames: 20,
        maximumWork: 1 << 17)
    private static let partial = DecodeOptions(allowsPartial: true)

    @Test(arguments: SmallFile.jpeg) func cutJPEGIsAnErrorOrAPartialImage(file: SmallFile) throws { try cut(file) }
    @Test(arguments: SmallFile.png) func cutPNGIsAnErrorOrAPartialImage(file: SmallFile) throws { try cut(file) }
    @Test(arguments: SmallFile.webp) func cutWebPIsAnErrorOrAPartialImage(file: SmallFile) throws { try cut(file) }
    @Test(arguments: SmallFile.gif) func cutGIFIsAnErrorOrAPartialImage(file: SmallFile) throws { try cut(file) }

    @Test(arguments: SmallFile.jpeg) func damagedJPEGGivesAnErrorOrAnImage(file: SmallFile) throws { try damage(file) }
    @Test(arguments: SmallFile.png) func damagedPNGGivesAnErrorOrAnImage(file: SmallFile) throws { try damage(file) }
    @Test(arguments: SmallFile.webp) func damagedWebPGivesAnErrorOrAnImage(file: SmallFile) throws { try damage(file) }
    @Test(arguments: SmallFile.bmp) func damagedBMPGivesAnErrorOrAnImage(file: SmallFile) throws { try damage(file) }
    @Test(arguments: SmallFile.ico) func damagedICOGivesAnErrorOrAnImage(file: SmallFile) throws { try damage(file) }
    @Test(arguments: SmallFile.gif) func damagedGIFGivesAnErrorOrAnImage(file: SmallFile) throws { try damage(file) }

    /// Expects that the whole file is an image, and that each beginning of it is an error or a partial image that only
    /// grows, unless it has all pixels.
    private func cut(_ file: SmallFile) throws {
        let whole = try decode(file.bytes, limits: Self.limits)
        #expect(try AnimatedImage(file.bytes, limits: Self.limits).allFrames().count >= 1)
        var rows = 0
        for length in 0..<file.bytes.count {
            let bytes = Array(file.bytes.prefix(length))
            let strict = result(bytes, DecodeOptions())
            if let strict {
                #expect(strict.pixels == whole.pixels && !strict.isPartial, "\(length) bytes")
                #expect(strict.header.warnings == [.missingEnd], "\(length) bytes")
            } else {
                #expect(!file.isWhole(at: length), "\(length) bytes")
            }
            let partial = result(bytes, Self.partial)
            if let strict {
                #expect(partial == strict)
                rows = strict.completeRows
            } else if let partial {
                #expect(partial.isPartial)
                #expect(partial.completeRows > 0 && partial.completeRows >= rows, "\(length) bytes")
                rows = partial.completeRows
            } else {
                #expect(rows == 0, "\(length) bytes have fewer rows than a shorter beginning")
            }
            animate(bytes, Self.partial)
        }
        if !file.isWhole(at: file.bytes.count - 1) { #expect(rows == whole.completeRows) }
    }

    private func damage(_ file: SmallFile) throws {
        try #require(!file.bytes.isEmpty)
        let targets: [DecodeOptions.Target] = [.original, .maximumSide(4), .fill(PixelSize(width: 3, height: 5))]
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var bytes = file.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let offset = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<8, using: &random) {
                case 0: bytes[offset] = .random(in: 0...255, using: &random)
                case 1: bytes[offset] = 0xFF
                case 2: bytes.remove(at: offset)
                case 3: bytes.insert(.random(in: 0...255, using: &random), at: offset)
                default: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
            }
            let target = targets[Int(seed % 3)]
            if let strict = result(bytes, DecodeOptions(target: target)) { #expect(!strict.isPartial) }
            _ = result(bytes, DecodeOptions(target: target, allowsPartial: true))
            animate(bytes, DecodeOptions(target: target))
        }
    }

    /// Returns the image, decoded in pieces and with previews, if there is one; checks the invariants of every image.
    private func result(_ bytes: [UInt8], _ options: DecodeOptions) -> DecodedImage? {
        let decoder = StreamingDecoder(options: options, limits: Self.limits)
        let piece = 1 + bytes.count / 3
        do throws(CodecError) {
            for start in stride(from: 0, to: bytes.count, by: piece) {
                try decoder.append(bytes.span.extracting(start..<min(start + piece, bytes.count)))
                if let plan = decoder.plan {
                    // At most the pixels within the limits, the working memory of every codec, and WebP tables.
                    let tables = LosslessTables.limit(compressedBytes: Self.limits.maximumBytes)
                    #expect(plan.estimatedBytes < (4 << 20) + tables)
                    try decoder.begin()
                }
                if let preview = try decoder.preview(maximumSide: 8) { expectWhole(preview.pixels) }
            }
            let image = try decoder.finish()
            expectWhole(image.pixels)
            #expect(image.completeRows <= max(image.pixels.width, image.pixels.height))
            return image
        } catch {
            #expect(!error.description.isEmpty)
            if let partial = decoder.partialImage {
                expectWhole(partial.pixels)
                #expect(partial.isPartial && partial.completeRows > 0)
            }
            return nil
        }
    }

    private func animate(_ bytes: [UInt8], _ options: DecodeOptions) {
        let image = try? AnimatedImage(bytes, options: options, limits: Self.limits)
        expectSame(image, inPiecesOf: 1 + bytes.count / 7, bytes, options)
        guard let image else { return }
        let decoder = AnimationDecoder(image, windowBytes: 0)
        for index in 0..<image.frameCount {
            guard let frame = try? decoder.frame(at: index) else { return }
            expectWhole(frame)
            #expect(frame.size == image.size)
        }
    }

    /// Expects that a file in pieces results in the same frames, or none.
    private func expectSame(_ whole: AnimatedImage?, inPiecesOf piece: Int, _ bytes: [UInt8], _ options: DecodeOptions)
    {
        var animation = StreamingAnimation(options: options, limits: Self.limits)
        var result: AnimatedImage?
        var count = 0
        do throws(CodecError) {
            for start in stride(from: 0, to: bytes.count, by: piece) {
                try animation.append(bytes.span.extracting(start..<min(start + piece, bytes.count)))
                #expect(animation.frameCount >= count)
                count = animation.frameCount
            }
            result = try animation.finish()
        } catch {
            #expect(animation.image?.frameCount ?? 0 == animation.frameCount && animation.frameCount >= count)
        }
        #expect(result?.storedFrames == whole?.storedFrames)
        #expect(result?.isPartial == whole?.isPartial && result?.frameCount == whole?.frameCount)
        #expect(result?.repetitionCount == whole?.repetitionCount && result?.size == whole?.size)
    }

    private func expectWhole(_ pixels: PixelBuffer) {
        #expect(pixels.size.area > 0 && pixels.bytes.count == pixels.size.area * 4)
    }
}
