import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// The profiles of each format.
struct TaggedFileTests {
    private let profile = TestProfile.primaries(ReferenceColors.displayP3, .sRGB)
    private let photo = TestImage.photo(70, 50)
    private let kept = DecodeOptions(keepsProfile: true)

    @Test func jpegProfilesComeInParts() throws {
        let untagged = try photo.encoded(as: .jpeg, quality: 95)
        let whole = try decode(TestTagged.jpeg(untagged, profile: profile))
        #expect(whole.pixels != (try decode(untagged).pixels))
        for isReversed in [false, true] {
            let file = TestTagged.jpeg(untagged, profile: profile, partLength: 100, isReversed: isReversed)
            let image = try decode(file, pieces: { 50 })
            #expect(image.pixels == whole.pixels)
            #expect(try decode(file, options: kept).iccProfile == profile)
        }
    }

    @Test func jpegProfilesWithAMissingOrRepeatedPartAreIgnored() throws {
        let untagged = try photo.encoded(as: .jpeg, quality: 95)
        let halves = [Array(profile.prefix(300)), Array(profile.dropFirst(300))]
        let first = TestTagged.segment(number: 1, of: 2, halves[0])
        let second = TestTagged.segment(number: 2, of: 2, halves[1])
        let broken: [[UInt8]] = [
            first, second, first + first, first + second + second,
            first + TestTagged.segment(number: 2, of: 3, halves[1]),
            TestTagged.segment(number: 0, of: 0, profile), first + TestTagged.segment(number: 3, of: 2, halves[1]),
            [0xFF, 0xE2, 0, 14] + Array("ICC_PROFILE\0".utf8),
        ]
        for segments in broken {
            let file = Array(untagged[..<2]) + segments + Array(untagged[2...])
            let image = try decode(file)
            #expect(image.pixels == (try decode(untagged).pixels))
            #expect(image.header.colorConversion == .unsupported)
        }
        #expect(
            try decode(Array(untagged[..<2]) + first + second + Array(untagged[2...])).header.colorConversion
                == .converted)
    }

    @Test func webpProfilesAreUsed() throws {
        let untagged = try photo.encoded(as: .webp, quality: 95)
        let stored = try decode(untagged).pixels
        let file = TestTagged.webp(untagged, size: photo.size, profile: profile)
        let image = try decode(file, pieces: { 100 })
        #expect(image.header.colorConversion == .converted)
        let expected = try decode(TestTagged.png(stored, chunks: [TestTagged.iccp(profile)])).pixels
        #expect(image.pixels == expected)
        #expect(try decode(file, options: kept).pixels == stored)
        #expect(try decode(file, options: kept).iccProfile == profile)
    }

    @Test func apngFramesAreConvertedByTheProfile() throws {
        let untagged = try animation(of: [photo, TestImage.photo(70, 50, seed: 2)], as: .png)
        let file = Array(untagged[..<33]) + TestTagged.iccp(profile) + Array(untagged[33...])
        let stored = try AnimatedImage(untagged).allFrames()
        let image = try AnimatedImage(file)
        #expect(image.frameCount == 2)
        let frames = try image.allFrames()
        for (frame, pixels) in zip(frames, stored) {
            #expect(try frame == decode(TestTagged.png(pixels, chunks: [TestTagged.iccp(profile)])).pixels)
        }
        let keeping = try AnimatedImage(file, options: kept)
        #expect(try keeping.allFrames() == stored)
        #expect(keeping.iccProfile == profile)
        #expect(image.estimatedBytes > (try AnimatedImage(untagged).estimatedBytes))
    }

    @Test func webpFramesAreConvertedByTheProfile() throws {
        let layers = TestAnimation.layers(4, seed: 3, alphas: [0, 255])
        let untagged = try TestAnimation.webp(layers)
        let tagged = try TestAnimation.webp(layers, profile: profile)
        let stored = try AnimatedImage(untagged)
        let kept = try AnimatedImage(tagged, options: kept)
        #expect(kept.iccProfile == profile)
        #expect(try kept.allFrames() == stored.allFrames())
        let converted = try AnimatedImage(tagged)
        #expect((converted.iccProfile, converted.header.colorConversion) == (nil, .converted))
        for (frame, unconverted) in zip(try converted.allFrames(), try stored.allFrames()) {
            // Layers of full and no alpha do not mix: each pixel of the canvas is one that was converted.
            let expected = try decode(TestTagged.png(unconverted, chunks: [TestTagged.iccp(profile)])).pixels
            #expect(frame != unconverted)
            for offset in stride(from: 0, to: expected.bytes.count, by: 4) where expected.bytes[offset + 3] > 0 {
                #expect(frame.bytes[offset..<offset + 4] == expected.bytes[offset..<offset + 4])
            }
        }
    }

    @Test(arguments: [8, 40]) func cmykIsConvertedByItsProfile(side: Int) throws {
        var random = SeededGenerator(seed: 11)
        let blocks = (0..<side * side).map { _ in (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) } }
        let untagged = TestCMYKJPEG.file(blocks, width: side)
        let file = TestTagged.jpeg(untagged, profile: TestProfile.cmyk())
        let image = try decode(file, pieces: { 777 })
        #expect(image.header.colorConversion == .converted)
        var largest = 0.0
        for (index, block) in blocks.enumerated() {
            let cmyk = block.map { Double(255 - Int($0)) / 255 }
            let expected = ReferenceColors.sRGBBytes(ofLab: TestProfile.lab(ofCMYK: cmyk))
            let pixel = ((index / side * 8 + 3) * image.pixels.width + index % side * 8 + 5) * 4
            for channel in 0..<3 {
                largest = max(largest, abs(Double(image.pixels.bytes[pixel + channel]) - expected[channel]))
            }
            #expect(image.pixels.bytes[pixel + 3] == 255)
        }
        #expect(largest < 1.5)
        #expect(try decode(file, options: kept).pixels == image.pixels)
        #expect(try decode(file, options: kept).iccProfile == nil)
        // At 1/8 each block is one pixel.
        let small = try decode(file, options: DecodeOptions(target: .maximumSide(side)))
        #expect(small.pixels.size == PixelSize(width: side, height: side))
        #expect(small.pixels.isOpaque)
    }

    /// Like browsers and djpeg, CMYK is treated as inverted regardless of Adobe's marker.
    @Test(arguments: [TestCMYKJPEG.Marker.cmyk, .none])
    func cmykWithoutAProfileIsConvertedByMultiplication(marker: TestCMYKJPEG.Marker) throws {
        let blocks: [[UInt8]] = [[255, 255, 255, 255], [0, 255, 255, 255], [200, 100, 50, 128], [255, 255, 255, 0]]
        let image = try decode(TestCMYKJPEG.file(blocks, width: 4, marker: marker)).pixels
        let pixels = (0..<4).map { Array(image.bytes[$0 * 32..<$0 * 32 + 4]) }
        #expect(pixels == [[255, 255, 255, 255], [0, 255, 255, 255], [100, 50, 25, 255], [0, 0, 0, 255]])
    }

    @Test func ycckIsConverted() throws {
        var random = SeededGenerator(seed: 4)
        let blocks = (0..<64).map { _ in (0..<4).map { _ in UInt8.random(in: 0...255, using: &random) } }
        let image = try decode(TestCMYKJPEG.file(blocks, width: 8, marker: .ycck)).pixels
        for (index, block) in blocks.enumerated() {
            let expected = Self.rgb(ofYCCK: block.map(Double.init))
            let pixel = ((index / 8 * 8 + 3) * image.width + index % 8 * 8 + 5) * 4
            for channel in 0..<3 {
                #expect(abs(Double(image.bytes[pixel + channel]) - expected[channel]) <= 1.5, "\(block)")
            }
            #expect(image.bytes[pixel + 3] == 255)
        }
    }

    /// The complements of the first three channels by ITU-T T.871 are the CMYK channels, inverted as the black is
    /// (Adobe Technical Note 5116).
    private static func rgb(ofYCCK stored: [Double]) -> [Double] {
        let (blue, red) = (stored[1] - 128, stored[2] - 128)
        let colors = [
            stored[0] + 1.402 * red, stored[0] - 0.344_136 * blue - 0.714_136 * red, stored[0] + 1.772 * blue,
        ]
        return colors.map { (255 - min(max($0.rounded(), 0), 255)) * stored[3] / 255 }
    }
}
