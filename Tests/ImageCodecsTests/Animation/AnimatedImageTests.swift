import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite
struct AnimatedImageTests {
    static let formats: [ImageFormat] = [.gif, .png, .webp]

    // MARK: Properties of files

    @Test(arguments: [(0, 100), (1, 100), (2, 20), (5, 50), (65_535, 655_350)])
    func shortGIFDelaysMatchBrowsers(hundredths: Int, milliseconds: Int) throws {
        let frame = TestGIF.Frame(width: 1, height: 1, indices: [0], delay: hundredths)
        let image = try AnimatedImage(TestGIF(width: 1, height: 1).file([frame, frame]))
        #expect(image.delay(at: 1) == .milliseconds(milliseconds))
    }

    @Test(arguments: [(nil, 1), (0, 0), (1, 2), (65_535, 65_536)] as [(Int?, Int)])
    func gifRepetitionCountIncludesTheFirstRun(repetitions: Int?, repetitionCount: Int) throws {
        let frame = TestGIF.Frame(width: 1, height: 1, indices: [0])
        let file = TestGIF(width: 1, height: 1, repetitions: repetitions).file([frame, frame])
        #expect(try AnimatedImage(file).repetitionCount == repetitionCount)
    }

    @Test(arguments: [ImageFormat.png, .webp], [0, 1, 2, 258, 65_535])
    func apngAndWebPRepetitionCountIsTheNumberOfRuns(format: ImageFormat, runs: Int) throws {
        let layers = TestAnimation.layers(2, seed: 1, alphas: [255])
        let file = try format == .png ? TestAnimation.apng(layers, runs: runs) : TestAnimation.webp(layers, runs: runs)
        #expect(try AnimatedImage(file).repetitionCount == runs)
    }

    @Test
    func apngDelayDenominatorOfZeroMeansHundredths() throws {
        var file = try TestAnimation.file(.png)
        let control = try #require(file.indices.first { file[$0...].starts(with: Array("fcTL".utf8)) })
        let data = Array(file[control + 4..<control + 24]) + [0, 7, 0, 0, 0, 0]
        file.replaceSubrange(control - 4..<control + 34, with: TestPNG.chunk("fcTL", data))
        #expect(try AnimatedImage(file).delay(at: 0) == .milliseconds(70))
    }

    @Test(arguments: EncodeOptions.formats)
    func aStillImageIsAnAnimationOfOneFrame(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 20, height: 10).encoded(as: format)
        let image = try AnimatedImage(file, options: DecodeOptions(target: .maximumSide(10)))
        #expect((image.frameCount, image.repetitionCount) == (1, 1))
        #expect(image.size == PixelSize(width: 10, height: 5))
        #expect(image.originalSize == PixelSize(width: 20, height: 10))
        let still = try decode(file, options: DecodeOptions(target: .maximumSide(10)))
        #expect(try image.allFrames() == [still.pixels])
        let again = try image.encoded(as: .png)
        #expect(try probe(again)?.frameCount == 1)
    }

    // MARK: Broken files

    @Test(arguments: formats)
    func animationCutAnywhereIsAnError(format: ImageFormat) throws {
        let file = try TestAnimation.file(format, count: 3)
        // Without its trailer, a GIF is complete, and an APNG without its end chunk; between two frames it may have lost the others.
        for length in 0..<file.count - (format == .gif ? 1 : 0) {
            do throws(CodecError) {
                let image = try AnimatedImage(Array(file.prefix(length)))
                let isWhole = format == .png && image.frameCount == 3 && file.count - length <= 12
                let frames = try image.allFrames()
                #expect(isWhole || format == .gif && frames.count < 3, "\(length) of \(file.count) bytes")
                #expect(image.header.warnings == [.missingEnd])
            } catch {
                continue
            }
        }
    }

    @Test(arguments: formats, UInt64(1)...4)
    func animationWithFlippedBytesGivesAnErrorOrFrames(format: ImageFormat, seed: UInt64) throws {
        let file = try TestAnimation.file(format, count: 4, seed: seed)
        let limits = DecodeLimits(maximumPixels: 1 << 16)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let offset = Int.random(in: damaged.indices, using: &random)
                damaged[offset] = UInt8.random(in: 0...255, using: &random)
            }
            guard let image = try? AnimatedImage(damaged, limits: limits) else { continue }
            let decoder = AnimationDecoder(image)
            for index in 0..<image.frameCount {
                guard let frame = try? decoder.frame(at: index) else { continue }
                #expect(frame.size == image.size)
            }
        }
    }

    @Test(arguments: formats)
    func framesAfterABrokenFrameAreErrors(format: ImageFormat) throws {
        let layers = TestAnimation.layers(4, seed: 2, alphas: [255]).map { layer in
            var layer = layer
            (layer.disposal, layer.isOver) = (.keep, true)
            return layer
        }
        var file = format == .gif ? TestAnimation.gif(layers) : try TestAnimation.webp(layers)
        if format == .png { file = TestAnimation.apng(layers) }
        let whole = try AnimatedImage(file)
        guard case .animated(let index, _, _) = whole.content else { throw Optional<Int>.Missing() }
        // The middle of the second frame's data.
        let second = index.frames[1].data
        let start = try #require(file.indices.first { file[$0...].starts(with: second) })
        let data = start..<start + second.count
        for offset in data.lowerBound + data.count / 2..<data.upperBound - 9 { file[offset] = 0 }
        guard let image = try? AnimatedImage(file) else { return }
        let decoder = AnimationDecoder(image, windowBytes: 0)
        #expect(throws: Never.self) { try decoder.frame(at: 0) }
        guard (try? decoder.frame(at: 1)) == nil else { return }
        #expect(throws: CodecError.self) { try decoder.frame(at: 2) }
        #expect(throws: Never.self) { try decoder.frame(at: 0) }
    }

    @Test
    func inconsistentAPNGIsDecodedAsItsDefaultImage() throws {
        let file = try TestAnimation.file(.png)
        let controls = file.indices.filter { file[$0...].starts(with: Array("fcTL".utf8)) }
        var damaged = file
        let data = TestPNG.number(7) + file[controls[1] + 8..<controls[1] + 30]
        damaged.replaceSubrange(controls[1] - 4..<controls[1] + 34, with: TestPNG.chunk("fcTL", data))
        try expectDefaultImage(of: file, damaged)
        // One frame fewer than declared.
        let last = try #require(controls.last)
        let shorter = file[..<(last - 4)] + TestPNG.chunk("IEND", [])
        try expectDefaultImage(of: file, Array(shorter))
        // The first or the last frame extends beyond the canvas.
        for control in [controls[0], last] {
            var outside = file
            let data = Array(file[control + 4..<control + 16]) + TestPNG.number(200) + file[control + 20..<control + 30]
            outside.replaceSubrange(control - 4..<control + 34, with: TestPNG.chunk("fcTL", data))
            try expectDefaultImage(of: file, outside)
        }
        // The default image is not a frame.
        let layers = TestAnimation.layers(4, seed: 3, alphas: [255])
        let hidden = TestAnimation.apng(layers, hidesDefault: true)
        let cut = try #require(hidden.indices.last { hidden[$0...].starts(with: Array("fcTL".utf8)) })
        try expectDefaultImage(of: hidden, Array(hidden[..<(cut - 4)]) + TestPNG.chunk("IEND", []))
        // If partial images are allowed, the frames are decoded.
        let partial = try AnimatedImage(Array(shorter), options: DecodeOptions(allowsPartial: true))
        #expect((partial.frameCount, partial.isPartial, partial.header.hasInvalidAnimation) == (4, true, false))
    }

    /// Expects the default image, as in viewers without animation support, and a note in the header, regardless of how
    /// the bytes arrive.
    private func expectDefaultImage(of file: [UInt8], _ damaged: [UInt8]) throws {
        let expected = try decode(file)
        let image = try AnimatedImage(damaged)
        #expect((image.frameCount, image.isPartial, image.header.hasInvalidAnimation) == (1, false, true))
        #expect(image.header.frameCount == 1)
        #expect(try image.allFrames() == [expected.pixels])
        var arriving = StreamingAnimation()
        for byte in damaged { try arriving.append([byte].span) }
        #expect(try arriving.finish().allFrames() == [expected.pixels])
        #expect(try decode(damaged).pixels == expected.pixels)
    }

    @Test
    func apngFramesInExcessOfTheDeclaredNumberAreNotShown() throws {
        let layers = TestAnimation.layers(3, seed: 1, alphas: [255])
        let image = try AnimatedImage(TestAnimation.apng(layers, declaredFrames: 2))
        #expect((image.frameCount, image.header.frameCount, image.header.hasInvalidAnimation) == (2, 2, false))
        #expect(try image.allFrames() == AnimatedImage(TestAnimation.apng(layers)).allFrames().dropLast())
    }

    @Test
    func frameDataWithAWrongChecksumAreCorrupt() throws {
        var file = try TestAnimation.file(.png)
        let data = try #require(file.indices.last { file[$0...].starts(with: Array("fdAT".utf8)) })
        file[data + 10] ^= 1
        let image = try AnimatedImage(file)
        let decoder = AnimationDecoder(image)
        #expect(throws: CodecError.self) { try decoder.frame(at: 4) }
    }

    // MARK: Limits

    @Test(arguments: formats)
    func moreFramesThanTheLimitAreRejected(format: ImageFormat) throws {
        let file = try TestAnimation.file(format, count: 5)
        #expect(throws: CodecError.overLimit(.frames, value: 5, limit: 4)) {
            try AnimatedImage(file, limits: DecodeLimits(maximumFrames: 4))
        }
        #expect(try AnimatedImage(file, limits: DecodeLimits(maximumFrames: 5)).frameCount == 5)
    }

    @Test(arguments: formats)
    func aCanvasLargerThanTheLimitIsRejected(format: ImageFormat) throws {
        let file = try TestAnimation.file(format)
        #expect(throws: CodecError.overLimit(.pixels, value: 117, limit: 116)) {
            try AnimatedImage(file, limits: DecodeLimits(maximumPixels: 116))
        }
        let options = DecodeOptions(target: .maximumSide(100), allowsUpscaling: true)
        #expect(throws: CodecError.self) {
            try AnimatedImage(file, options: options, limits: DecodeLimits(maximumPixels: 200))
        }
        #expect(throws: CodecError.overLimit(.bytes, value: file.count, limit: 100)) {
            try AnimatedImage(file, limits: DecodeLimits(maximumBytes: 100))
        }
    }

    @Test(arguments: formats)
    func animationWithTooManyPixelsIsRejected(format: ImageFormat) throws {
        let file = try TestAnimation.file(format, count: 5)
        #expect(throws: CodecError.overLimit(.work, value: 1_170, limit: 1_169)) {
            try AnimatedImage(file, limits: DecodeLimits(maximumWork: 1_169))
        }
        #expect(try AnimatedImage(file, limits: DecodeLimits(maximumWork: 1_170)).frameCount == 5)
    }

    @Test
    func aFrameMuchLargerThanItsCanvasIsRejected() throws {
        let small = TestGIF.Frame(width: 1, height: 1, indices: [0])
        let large = TestGIF.Frame(width: 60_000, height: 60_000, indices: [0])
        let file = TestGIF(width: 1, height: 1).file([small, large])
        #expect(throws: CodecError.self) { try AnimatedImage(file) }
    }

    @Test
    func frameCacheOfThousandFramesKeepsItsLimit() throws {
        let frames = (0..<1000).map { index in
            TestGIF.Frame(width: 2, height: 1, indices: [UInt8(index % 2), 0])
        }
        let image = try AnimatedImage(TestGIF(width: 20, height: 10).file(frames))
        let decoder = AnimationDecoder(image, windowBytes: 5_000)
        for index in 0..<1000 {
            _ = try decoder.frame(at: index)
            #expect(decoder.window.bytes <= 5_000)
        }
        #expect(decoder.window.count == 6)
        let tiny = AnimationDecoder(image, windowBytes: 1 << 30)
        for index in 0..<200 { _ = try tiny.frame(at: index) }
        #expect(tiny.window.count == FrameWindow.maximumCount)
    }
}
