import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Animations while they arrive.
@Suite(.timeLimit(.minutes(5)))
struct StreamingAnimationTests {
    static let formats: [ImageFormat] = [.gif, .png, .webp]
    private static let partial = DecodeOptions(allowsPartial: true)

    @Test(arguments: formats, UInt64(0)..<6)
    func streamedAnimationDoesNotDependOnPieceSizes(format: ImageFormat, seed: UInt64) throws {
        let file = try TestAnimation.file(format, count: 7, seed: seed + 1)
        let whole = try AnimatedImage(file)
        var random = SeededGenerator(seed: seed)
        var animation = StreamingAnimation()
        var offset = 0
        while offset < file.count {
            let piece = seed == 0 ? 1 : seed == 1 ? 7 : Int.random(in: 1...90 * Int(seed), using: &random)
            try animation.append(file.span.extracting(offset..<min(offset + piece, file.count)))
            offset += piece
            #expect(animation.image?.storedFrames ?? [] == Array(whole.storedFrames.prefix(animation.frameCount)))
        }
        let image = try animation.finish()
        #expect(image.storedFrames == whole.storedFrames && image.frameCount == 7)
        #expect(image.header == whole.header)
        #expect((image.repetitionCount, image.isPartial) == (whole.repetitionCount, false))
        #expect(try image.allFrames() == whole.allFrames())
    }

    @Test(arguments: formats)
    func frameIsAvailableWithItsLastByte(format: ImageFormat) throws {
        let file = try TestAnimation.file(format)
        let whole = try AnimatedImage(file)
        let expected = try whole.allFrames()
        var animation = StreamingAnimation()
        var decoder: AnimationDecoder?
        var searched = 0
        for offset in file.indices {
            let known = animation.frameCount
            try animation.append(file.span.extracting(offset..<offset + 1))
            guard animation.frameCount > known else { continue }
            #expect(animation.frameCount == known + 1)
            // After its data; in an APNG, the length and name of the next chunk indicate that there is no more.
            var data = whole.storedFrames[known].data
            if format == .png { data = Array(data.suffix(20)) }
            let start = try #require((searched..<file.count).first { file[$0...].starts(with: data) })
            searched = start + data.count
            #expect(offset + 1 == searched + (format == .png ? 8 : 0), "frame \(known)")

            let image = try #require(animation.image)
            #expect(image.isPartial)
            #expect((image.size, image.delay(at: known)) == (whole.size, whole.delay(at: known)))
            if decoder == nil { decoder = AnimationDecoder(image) }
            decoder?.extend(to: image)
            #expect(try decoder?.frame(at: known) == expected[known])
        }
        #expect(animation.frameCount == 5)
    }

    @Test(arguments: formats)
    func completeFramesOfATruncatedFileAreAvailable(format: ImageFormat) throws {
        let file = try TestAnimation.file(format, count: 4)
        let whole = try AnimatedImage(file)
        let expected = try whole.allFrames()
        var counts: Set<Int> = []
        for length in 0..<file.count {
            let bytes = Array(file.prefix(length))
            var strict = StreamingAnimation()
            let image = try? strict.whole(bytes)
            // A GIF that ends between two frames is indistinguishable from a complete one. An APNG needs no end chunk.
            #expect(image == nil || format == .gif || format == .png && file.count - length <= 12)
            let complete = strict.frameCount
            counts.insert(complete)
            guard let cut = try? AnimatedImage(bytes, options: Self.partial) else {
                #expect(complete == 0)
                continue
            }
            #expect(cut.isPartial == (image?.isPartial ?? true), "\(length) bytes")
            #expect(cut.frameCount == max(complete, 1))
            #expect(cut.header.frameCount == cut.frameCount || complete == 0)
            guard complete > 0 else { continue }
            let frames = try cut.allFrames()
            #expect(frames == Array(expected.prefix(complete)), "\(length) bytes")
        }
        // The last frame of a WebP ends with the file.
        #expect(counts == Set(0...(format == .webp ? 3 : 4)))
    }

    @Test(arguments: formats)
    func animationDecoderRestartsWithAnotherAnimation(format: ImageFormat) throws {
        let first = try AnimatedImage(TestAnimation.file(format, count: 5))
        let fewer = try AnimatedImage(TestAnimation.file(format, count: 3, seed: 9))
        let larger = try AnimatedImage(
            AnimationEncoder.file(of: PixelSize(width: 200, height: 100), count: 6, format))
        for other in [fewer, larger] {
            let decoder = AnimationDecoder(first)
            _ = try decoder.frame(at: 2)
            decoder.extend(to: other)
            #expect(try (0..<other.frameCount).map { try decoder.frame(at: $0) } == other.allFrames())
        }
    }

    @Test(arguments: formats)
    func framesBeforeALimitErrorStayAvailable(format: ImageFormat) throws {
        let file = try TestAnimation.file(format, count: 5)
        let limits = DecodeLimits(maximumFrames: 3)
        for options in [DecodeOptions(), Self.partial] {
            var animation = StreamingAnimation(options: options, limits: limits)
            let error = CodecError.overLimit(.frames, value: 4, limit: 3)
            #expect(throws: error) { try animation.append(file.span) }
            #expect(animation.image?.frameCount == 3)
            #expect(throws: error) { try animation.append([1].span) }
            #expect(throws: error) { try animation.finish() }
            #expect(animation.image?.frameCount == 3)
        }
    }

    @Test func framesBeforeDamageStayAvailable() throws {
        var file = try TestAnimation.file(.png, count: 5)
        let control = try #require(file.indices.last { file[$0...].starts(with: Array("fcTL".utf8)) })
        file[control + 10] ^= 1
        var strict = StreamingAnimation()
        #expect(throws: Never.self) { try strict.append(file.span) }
        #expect(strict.image?.frameCount == 4 && strict.decodesImageAtEnd)
        #expect(!strict.needsNoMoreBytes)
        #expect(try strict.finish().header.hasInvalidAnimation)

        var partial = StreamingAnimation(options: Self.partial)
        #expect(throws: Never.self) { try partial.append(file.span) }
        #expect(partial.needsNoMoreBytes)
        let image = try partial.finish()
        #expect((image.frameCount, image.isPartial) == (4, true))
    }

    @Test func webpFramesWaitForTheTrailingOrientation() throws {
        let layers = TestAnimation.layers(3, seed: 4, alphas: [255])
        let file = try TestAnimation.webp(layers, exif: TestExif.bytes(orientation: 8))
        for ignoresOrientation in [false, true] {
            var animation = StreamingAnimation(options: DecodeOptions(ignoresOrientation: ignoresOrientation))
            try animation.append(file.span.extracting(first: file.count - 10))
            #expect(animation.frameCount == (ignoresOrientation ? 3 : 0))
            try animation.append(file.span.extracting(last: 10))
            #expect(animation.frameCount == 3)
            #expect(try animation.finish().size.width == (ignoresOrientation ? 13 : 9))
        }
    }

    @Test
    func apngOrientationAfterTheFirstPixelsIsIgnored() throws {
        let plain = try TestAnimation.file(.png)
        let second = try #require(plain.indices.last { plain[$0...].starts(with: Array("fcTL".utf8)) })
        let exif = TestPNG.chunk("eXIf", TestExif.bytes(orientation: 6))
        let file = plain[..<(second - 4)] + exif + plain[(second - 4)...]
        var animation = StreamingAnimation()
        try animation.append(Array(file.dropLast(12)).span)
        let arriving = try #require(animation.image)
        #expect(arriving.frameCount == 4)
        try animation.append(Array(file.suffix(12)).span)
        let whole = try animation.finish()
        #expect((whole.size, whole.header.orientation) == (arriving.size, .up))
        #expect(try whole.allFrames() == AnimatedImage(plain).allFrames())
        let still = try decode(Array(file))
        #expect(try still == decode(plain))
    }

    @Test(arguments: EncodeOptions.formats)
    func streamedStillImageIsOneFrameAtTheEnd(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 20, height: 10).encoded(as: format)
        var animation = StreamingAnimation(options: DecodeOptions(target: .maximumSide(10)))
        for byte in file { try animation.append([byte].span) }
        let image = try animation.finish()
        #expect((image.frameCount, image.isPartial, image.delay(at: 0)) == (1, false, .zero))
        #expect(try image.allFrames() == [try decode(file, options: DecodeOptions(target: .maximumSide(10))).pixels])
        var cut = StreamingAnimation()
        #expect(throws: CodecError.truncated(format)) { try cut.whole(Array(file.dropLast(30))) }
    }

    @Test(arguments: formats)
    func damagedFrameShowsThePreviousFrameIfAllowed(format: ImageFormat) throws {
        let layers = TestAnimation.layers(6, seed: 2, alphas: [255]).map { layer in
            var layer = layer
            (layer.disposal, layer.isOver) = (.keep, true)
            return layer
        }
        var file = format == .gif ? TestAnimation.gif(layers) : try TestAnimation.webp(layers)
        if format == .png { file = TestAnimation.apng(layers) }
        let whole = try AnimatedImage(file)
        let expected = try whole.allFrames()
        let third = whole.storedFrames[2].data
        let start = try #require(file.indices.first { file[$0...].starts(with: third) })
        // The data of the third frame becomes invalid; the structure of the file is intact.
        let middle =
            switch format {
            case .gif: 12..<16
            case .png: third.count / 2..<third.count / 2 + 4
            default: 11..<15
            }
        for offset in middle { file[start + offset] = 0xFF }

        let strict = AnimationDecoder(try AnimatedImage(file), windowBytes: 0)
        #expect(throws: CodecError.self) { try strict.frame(at: 2) }
        let decoder = AnimationDecoder(try AnimatedImage(file, options: Self.partial), windowBytes: 0)
        #expect(try decoder.frame(at: 1) == expected[1])
        #expect(decoder.partialFrames.isEmpty)
        #expect(try decoder.frame(at: 2) != expected[2])
        #expect(throws: Never.self) { try decoder.frame(at: 3) }
        let hidden = whole.storedFrames[3].isIndependent
        #expect(decoder.partialFrames == (hidden ? [2] : [2, 3]))
        #expect(try decoder.frame(at: 0) == expected[0])
    }
}

extension StreamingAnimation {
    /// Appends a whole file, and returns its animation.
    mutating func whole(_ file: [UInt8]) throws(CodecError) -> AnimatedImage {
        try append(file.span)
        return try finish()
    }
}

extension AnimatedImage {
    /// The frames of an animation; none of a still image.
    var storedFrames: [StoredFrame] {
        if case .animated(let index, _, _) = content { index.frames } else { [] }
    }
}

extension AnimationEncoder {
    /// An animation of gray frames.
    fileprivate static func file(of size: PixelSize, count: Int, _ format: ImageFormat) throws -> [UInt8] {
        let encoder = try AnimationEncoder(format: format, size: size)
        for index in 0..<count {
            let bytes = [UInt8](repeating: UInt8(255 - index * 20), count: size.area * 4)
            let frame = try #require(PixelBuffer(size: size, bytes: bytes))
            try encoder.append(frame, delay: .milliseconds(50))
        }
        return try encoder.finish()
    }
}
