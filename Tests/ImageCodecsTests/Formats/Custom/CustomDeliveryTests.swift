import ImageCodecs
import ImageEncoders
import ImageTestSupport
import QOI
import Testing

/// However the bytes arrive, a custom file gives the same images.
struct CustomDeliveryTests {
    /// A format that reads pieces, and one that reads only complete files.
    private static let formats: [any CustomFormat] = [QOIFormat(), WholeQOIFormat()]

    private let picture = TestImage.noise(7, 5, seed: 9, isOpaque: false)
    private let frames: [PixelBuffer] = (0..<3).map { TestImage.noise(6, 4, seed: 20 + $0, isOpaque: false) }

    private func animationFile() throws -> [UInt8] {
        let encoder = try AnimationEncoder(
            options: EncodeOptions(QOIEncoder()), size: PixelSize(width: 6, height: 4), repetitionCount: 5)
        for (index, frame) in frames.enumerated() {
            try encoder.append(frame, delay: .milliseconds(100 * (index + 1)))
        }
        return try encoder.finish()
    }

    /// The pieces of a file: whole, in two at every boundary, and byte by byte.
    private func deliveries(_ file: [UInt8]) -> [[ArraySlice<UInt8>]] {
        [[file[...]]] + (1..<file.count).map { [file[..<$0], file[$0...]] } + [file.indices.map { file[$0...$0] }]
    }

    @Test(arguments: formats.indices)
    func imageIsTheSameHoweverItArrives(format: Int) throws {
        let formats = [Self.formats[format]]
        for pieces in deliveries(picture.qoi()) {
            let decoder = StreamingDecoder(customFormats: formats)
            let verifier = ImageVerifier(customFormats: formats)
            let reader = ImageHeaderReader(customFormats: formats)
            for piece in pieces {
                let piece = Array(piece)
                try append(piece, to: decoder)
                if decoder.plan != nil { try decoder.begin() }
                try verifier.append(piece.span)
                try reader.append(piece.span)
            }
            #expect(try decoder.finish().pixels == picture)
            #expect(try verifier.finish().size == picture.size)
            #expect(try reader.finish().size == picture.size)
        }
    }

    @Test(arguments: formats.indices)
    func animationIsTheSameHoweverItArrives(format: Int) throws {
        let file = try animationFile()
        for pieces in deliveries(file) {
            var animation = StreamingAnimation(customFormats: [Self.formats[format]])
            let decoder = StreamingDecoder(customFormats: [Self.formats[format]])
            let verifier = ImageVerifier(customFormats: [Self.formats[format]])
            for piece in pieces {
                let piece = Array(piece)
                try animation.append(piece.span)
                try decoder.append(piece.span)
                try verifier.append(piece.span)
                if verifier.header != nil { try verifier.begin() }
            }
            let image = try animation.finish()
            #expect(try image.allFrames() == frames)
            #expect(image.delays == [.milliseconds(100), .milliseconds(200), .milliseconds(300)])
            #expect(image.repetitionCount == 5)
            #expect(image.header.frameCount == 3)
            #expect(try decoder.finish().pixels == frames[0])
            #expect(try verifier.finish().frameCount == 3)
        }
    }

    @Test func framesOfACustomAnimationAreShownAsTheyArrive() throws {
        let file = try animationFile()
        var animation = StreamingAnimation(customFormats: Self.formats)
        try animation.append(file.span.extracting(0..<file.count - 1))
        #expect(animation.frameCount == 2)
        let image = try #require(animation.image)
        #expect(try AnimationDecoder(image).frame(at: 1) == frames[1])
    }

    @Test(arguments: formats.indices)
    func customAnimationIsScaledAndSeekable(format: Int) throws {
        let image = try AnimatedImage(
            try animationFile(), options: DecodeOptions(target: .maximumSide(3)), customFormats: [Self.formats[format]])
        let decoder = AnimationDecoder(image, windowBytes: 0)
        let last = try decoder.frame(at: 2)
        #expect(last.size == PixelSize(width: 3, height: 2))
        let first = try decoder.frame(at: 0)
        #expect(first != last)
        #expect(try decoder.frame(at: 2) == last)
    }

    @Test(arguments: formats.indices)
    func truncatedCustomAnimationIsAnError(format: Int) throws {
        let file = try animationFile()
        for count in [20, file.count - 1] {
            let cut = Array(file.prefix(count))
            #expect(throws: CodecError.truncated(QOIFormat().format)) {
                try AnimatedImage(cut, customFormats: [Self.formats[format]])
            }
            #expect(throws: CodecError.truncated(QOIFormat().format)) {
                try ImageVerifier.verify(cut.span, customFormats: [Self.formats[format]])
            }
        }
    }

    @Test(arguments: formats.indices)
    func limitsOnFramesApplyToCustomAnimations(format: Int) throws {
        let file = try animationFile()
        let formats = [Self.formats[format]]
        #expect(throws: CodecError.overLimit(.frames, value: 3, limit: 2)) {
            try AnimatedImage(file, limits: DecodeLimits(maximumFrames: 2), customFormats: formats)
        }
        #expect(throws: CodecError.overLimit(.work, value: 144, limit: 100)) {
            try AnimatedImage(file, limits: DecodeLimits(maximumWork: 100), customFormats: formats)
        }
    }

    @Test func delaysOfFramesAreBounded() throws {
        struct Timeless: CustomAnimation {
            let repetitionCount = 0
            var hasBegun = false
            mutating func append(_ bytes: Span<UInt8>) -> [CustomFrame] {
                guard !hasBegun else { return [] }
                hasBegun = true
                return [Duration.seconds(Int64.max), .seconds(-1)].map {
                    CustomFrame(file: [], size: PixelSize(width: 4, height: 8), delay: $0)
                }
            }
            func finish() {}
        }
        var format = TestFormat()
        format.header?.frameCount = nil
        format.frames = Timeless()
        let image = try AnimatedImage(TestFormat.file, customFormats: [format])
        #expect(image.delays == [.seconds(1 << 32), .milliseconds(100)])
    }

    @Test func frameOutsideOfTheImageIsAFaultOfTheFormat() {
        struct Misplaced: CustomAnimation {
            var repetitionCount: Int { 0 }
            func append(_ bytes: Span<UInt8>) -> [CustomFrame] {
                [CustomFrame(file: [], size: PixelSize(width: 4, height: 8), left: .max, delay: .zero)]
            }
            func finish() {}
        }
        var format = TestFormat()
        format.header?.frameCount = nil
        format.frames = Misplaced()
        #expect(throws: CodecError.self) { try AnimatedImage(TestFormat.file, customFormats: [format]) }
    }
}
