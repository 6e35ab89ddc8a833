import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Frames compared with a reference that draws them in the simplest way.
@Suite
struct CompositionTests {
    static let seeds = UInt64(1)...8

    @Test(arguments: seeds)
    func apngFramesEqualTheReference(seed: UInt64) throws {
        let layers = TestAnimation.layers(12, seed: seed, alphas: [0, 1, 77, 200, 254, 255])
        let reference = ReferenceAnimation.frames(layers, width: TestAnimation.width, height: TestAnimation.height)
        for (hidesDefault, isInterlaced) in [(false, false), (true, false), (false, true)] {
            let file = TestAnimation.apng(layers, hidesDefault: hidesDefault, isInterlaced: isInterlaced)
            let frames = try AnimatedImage(file).allFrames()
            #expect(frames.map(\.bytes) == reference)
        }
    }

    @Test(arguments: seeds)
    func gifFramesEqualTheReference(seed: UInt64) throws {
        let layers = TestAnimation.layers(12, seed: seed, alphas: [0, 255])
        let reference = ReferenceAnimation.frames(
            TestAnimation.gifLayers(layers), width: TestAnimation.width, height: TestAnimation.height)
        #expect(try AnimatedImage(TestAnimation.gif(layers)).allFrames().map(\.bytes) == reference)
    }

    @Test(arguments: seeds)
    func webPFramesEqualLibwebp(seed: UInt64) throws {
        let file = try TestAnimation.webp(TestAnimation.layers(12, seed: seed, alphas: [0, 40, 180, 255]))
        let reference = ReferenceAnimation.webp(file)
        #expect(reference.count == 12)
        let frames = try AnimatedImage(file).allFrames()
        for (frame, expected) in zip(frames, reference) {
            // The colors of fully transparent pixels are undefined.
            var isEqual = true
            for offset in stride(from: 0, to: expected.count, by: 4) {
                let pixel = expected[offset..<offset + 4]
                if pixel.last == 0 {
                    isEqual = isEqual && frame.bytes[offset + 3] == 0
                } else {
                    isEqual = isEqual && frame.bytes[offset..<offset + 4] == pixel
                }
            }
            #expect(isEqual)
        }
    }

    @Test(arguments: [ImageFormat.gif, .png, .webp], [0, 1 << 20])
    func framesDoNotDependOnTheOrderOfDecoding(format: ImageFormat, windowBytes: Int) throws {
        let image = try AnimatedImage(TestAnimation.file(format, count: 12, seed: 3))
        let frames = try image.allFrames()
        let decoder = AnimationDecoder(image, windowBytes: windowBytes)
        var random = SeededGenerator(seed: 5)
        for _ in 0..<40 {
            let index = Int.random(in: frames.indices, using: &random)
            let frame = try decoder.frame(at: index)
            #expect(frame == frames[index], "frame \(index)")
        }
    }

    @Test
    func gifPixelsOutsideTheCanvasAreNotShown() throws {
        let outside = TestGIF.Frame(left: 5, top: 5, width: 2, height: 2, indices: [0, 0, 0, 0], disposal: 3)
        let across = TestGIF.Frame(left: 1, top: 1, width: 3, height: 3, indices: [1, 0, 0, 0, 0, 0, 0, 0, 0])
        let empty = TestGIF.Frame(width: 0, height: 0, indices: [])
        let frames = try AnimatedImage(TestGIF(width: 2, height: 2).file([outside, across, empty])).allFrames()
        let blank = [UInt8](repeating: 0, count: 16)
        #expect(frames.map(\.bytes) == [blank, blank[..<12] + [0, 255, 0, 255], blank[..<12] + [0, 255, 0, 255]])
    }

    @Test(arguments: [false, true])
    func onlyVisiblePixelsOfAFrameAreHeld(isInterlaced: Bool) throws {
        func frame(_ width: Int, _ height: Int) -> TestGIF.Frame {
            let rows = isInterlaced ? [(0, 8), (4, 8), (2, 4), (1, 2)] : [(0, 1)]
            let order = rows.flatMap { stride(from: $0, to: height, by: $1) }
            return TestGIF.Frame(
                left: 1, top: 2, width: width, height: height,
                indices: order.flatMap { y in (0..<width).map { x in UInt8((x * 3 + y * y) % 4 / 2) } },
                isInterlaced: isInterlaced)
        }
        let first = TestGIF.Frame(width: 4, height: 8, indices: [UInt8](repeating: 0, count: 32))
        let animation = try AnimatedImage(TestGIF(width: 4, height: 8).file([first, frame(50, 41)]))
        let cut = try AnimatedImage(TestGIF(width: 4, height: 8).file([first, frame(3, 6)]))
        #expect(try animation.allFrames() == cut.allFrames())
        guard case .animated(let index, _, _) = animation.content else { throw Optional<Int>.Missing() }
        #expect(index.stillHeader(index.frames[1]).size == PixelSize(width: 3, height: 6))
        // The estimate does not depend on whether frames are interlaced.
        let swapped = try AnimatedImage(TestGIF(width: 4, height: 8).file([frame(3, 6), first]))
        #expect(swapped.estimatedBytes <= animation.estimatedBytes)
    }

    @Test(arguments: UInt8(0)...7)
    func reservedGIFDisposalsMatchBrowsers(disposal: UInt8) throws {
        let ground = TestGIF.Frame(width: 2, height: 1, indices: [0, 0])
        let above = TestGIF.Frame(width: 1, height: 1, indices: [1], disposal: disposal)
        let next = TestGIF.Frame(left: 1, width: 1, height: 1, indices: [1])
        let last = try AnimatedImage(TestGIF(width: 2, height: 1).file([ground, above, next])).allFrames()[2]
        // 2 clears, 3 and 4 restore the previous contents, all others leave the frame.
        let left: [UInt8] =
            disposal == 2 ? [0, 0, 0, 0] : disposal == 3 || disposal == 4 ? [255, 0, 0, 255] : [0, 255, 0, 255]
        #expect(last.bytes == left + [0, 255, 0, 255])
    }

    @Test func aGIFWithoutAPaletteShowsNothing() throws {
        let pixel = TestGIF.Frame(width: 1, height: 1, indices: [1])
        let file = TestGIF(width: 2, height: 1, hasPalette: false).file([pixel, pixel])
        #expect(
            try AnimatedImage(file).allFrames().map(\.bytes)
                == [[UInt8]](repeating: [0, 0, 0, 0, 0, 0, 0, 0], count: 2))
        let small = try decode(file, options: DecodeOptions(target: .maximumSide(1)))
        #expect(small.pixels.bytes == [0, 0, 0, 0] && small.header.hasAlpha)
    }

    @Test
    func framesAreTurnedUprightAndScaled() throws {
        let layers = TestAnimation.layers(4, seed: 9, alphas: [255])
        var file = TestAnimation.apng(layers)
        let exif = TestPNG.chunk("eXIf", TestExif.bytes(orientation: 6))
        file.insert(contentsOf: exif, at: 33)
        let whole = try AnimatedImage(file)
        #expect(whole.size == PixelSize(width: TestAnimation.height, height: TestAnimation.width))
        let small = try AnimatedImage(file, options: DecodeOptions(target: .maximumSide(6)))
        #expect(small.size == PixelSize(width: 4, height: 6))
        #expect(small.originalSize == whole.size)
        let stored = try AnimatedImage(file, options: DecodeOptions(ignoresOrientation: true))
        let (storedFrames, wholeFrames, smallFrames) = try (
            stored.allFrames(), whole.allFrames(), small.allFrames()
        )
        for (index, frame) in storedFrames.enumerated() {
            #expect(wholeFrames[index] == frame.turned(.right))
            let options = DecodeOptions(target: .maximumSide(6), ignoresOrientation: true)
            let still = try decode(frame.encoded(as: .png), options: options)
            #expect(smallFrames[index] == still.pixels.turned(.right))
        }
    }

    @Test
    func orientationAfterTheFramesIsApplied() throws {
        let layers = TestAnimation.layers(3, seed: 4, alphas: [255])
        let stored = try AnimatedImage(TestAnimation.webp(layers)).allFrames()
        let turned = try AnimatedImage(TestAnimation.webp(layers, exif: TestExif.bytes(orientation: 8)))
        #expect(turned.size == PixelSize(width: TestAnimation.height, height: TestAnimation.width))
        let frames = try turned.allFrames()
        #expect(frames == stored.map { $0.turned(.left) })
    }
}
