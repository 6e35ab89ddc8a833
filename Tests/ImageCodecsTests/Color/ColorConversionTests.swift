import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct ColorConversionTests {
    typealias Curve = TestProfile.Curve

    /// 4,096 random colors.
    private let noise = TestImage.noise(64, 64, seed: 7, isOpaque: false)

    private func png(_ profile: [UInt8]) -> [UInt8] {
        TestTagged.png(noise, chunks: [TestTagged.iccp(profile)])
    }

    /// The largest difference in any channel of any pixel.
    private func difference(
        _ image: PixelBuffer, from original: PixelBuffer, _ expected: (ArraySlice<UInt8>) -> [Double]
    ) -> Double {
        var largest = 0.0
        // About 4,096 pixels are sufficient.
        let step = max(1, original.size.area / 4_096)
        for pixel in stride(from: 0, to: original.bytes.count, by: 4 * step) {
            for (channel, value) in expected(original.bytes[pixel..<pixel + 4]).enumerated() {
                largest = max(largest, abs(Double(image.bytes[pixel + channel]) - value))
            }
        }
        return largest
    }

    @Test(arguments: [
        (ReferenceColors.displayP3, Curve.sRGB), (ReferenceColors.adobeRGB, .gamma(2.2)),
        (ReferenceColors.bt2020, .gamma(1.8)),
    ])
    func matrixProfilesAreConvertedExactly(matrix: [[Double]], curve: Curve) throws {
        let image = try decode(png(TestProfile.primaries(matrix, curve)))
        let error = difference(image.pixels, from: noise) { ReferenceColors.sRGBBytes(of: $0, matrix, curve.light) }
        #expect(error < 0.75)
        #expect(image.header.colorConversion == .converted)
        #expect(image.iccProfile == nil)
    }

    /// Little CMS takes minutes for many of them.
    @Test(.timeLimit(.minutes(1)), arguments: [1, 100_000])
    func multiProcessElementsOfProfilesAreIgnored(count: Int) throws {
        let elements = TestProfile.elements(count)
        let (matrix, curve) = (ReferenceColors.displayP3, Curve.sRGB)
        let profile = TestProfile.primaries(
            matrix, curve, and: [("D2B0", elements), ("D2B1", elements), ("B2D0", elements)])
        let image = try decode(png(profile))
        let error = difference(image.pixels, from: noise) { ReferenceColors.sRGBBytes(of: $0, matrix, curve.light) }
        #expect(error < 0.75)
        let table = TestProfile.lightTable(and: [("D2B0", elements)])
        let converted = try decode(png(table))
        #expect(converted.pixels.bytes == (try decode(png(TestProfile.lightTable()))).pixels.bytes)
    }

    @Test(arguments: [PixelSize(width: 64, height: 64), PixelSize(width: 320, height: 320)])
    func tableProfilesAreConvertedExactly(size: PixelSize) throws {
        // Small images are converted without precomputed tables, large ones with them.
        let noise = TestImage.noise(size.width, size.height, seed: 3, isOpaque: false)
        let file = TestTagged.png(noise, chunks: [TestTagged.iccp(TestProfile.lightTable())])
        let error = difference(try decode(file).pixels, from: noise) { pixel in
            ReferenceColors.sRGBBytes(ofLab: TestProfile.lab(ofRGB: pixel.prefix(3).map { Double($0) / 255 }))
        }
        #expect(error < 2.5)
    }

    @Test(arguments: [1.0, 1.8, 2.6]) func grayProfilesApplyToGrayImages(gamma: Double) throws {
        let gray = TestImage.gray(50, 40)
        let profile = TestProfile.gray(.gamma(gamma))
        func expected(_ pixel: ArraySlice<UInt8>) -> [Double] {
            ReferenceColors.sRGBBytes(of: pixel, ReferenceColors.sRGB, Curve.gamma(gamma).light)
        }
        let png = try decode(TestTagged.png(gray, colorType: 0, chunks: [TestTagged.iccp(profile)]))
        #expect(difference(png.pixels, from: gray, expected) < 1)
        let untagged = try gray.encoded(as: .jpeg, quality: 90)
        let jpeg = try decode(TestTagged.jpeg(untagged, profile: profile))
        #expect(difference(jpeg.pixels, from: try decode(untagged).pixels, expected) < 1)
        #expect(jpeg.header.colorConversion == .converted)
    }

    @Test func colorProfilesApplyToGrayImages() throws {
        let gray = TestImage.gray(50, 40)
        let profile = TestProfile.primaries(ReferenceColors.displayP3, .gamma(1.8))
        let image = try decode(TestTagged.png(gray, colorType: 0, chunks: [TestTagged.iccp(profile)]))
        let error = difference(image.pixels, from: gray) {
            ReferenceColors.sRGBBytes(of: $0, ReferenceColors.sRGB, Curve.gamma(1.8).light)
        }
        #expect(error < 0.75)
    }

    @Test func colorConversionKeepsAlpha() throws {
        let profiles = [TestProfile.primaries(ReferenceColors.displayP3, .sRGB), TestProfile.lightTable()]
        for profile in profiles {
            let image = try decode(png(profile)).pixels
            #expect(image.bytes != noise.bytes)
            let alphas = stride(from: 3, to: noise.bytes.count, by: 4)
            #expect(alphas.allSatisfy { image.bytes[$0] == noise.bytes[$0] })
        }
    }

    @Test(arguments: [TestProfile.primaries(ReferenceColors.displayP3, .sRGB), TestProfile.lightTable()])
    func framesOfAnAnimationAreConvertedForEveryFormat(profile: [UInt8]) throws {
        let layers = TestAnimation.layers(4, seed: 3, alphas: [0, 90, 255])
        let file = try TestAnimation.webp(layers, profile: profile)
        let frames = try AnimatedImage(file).allFrames()
        #expect(try frames != AnimatedImage(TestAnimation.webp(layers)).allFrames())
        for format in PixelFormat.allCases {
            let animation = try AnimatedImage(file, options: DecodeOptions(pixelFormat: format))
            #expect(try animation.allFrames() == frames.map { $0.converted(to: format) }, "\(format)")
        }
    }

    @Test func aProfileOfSRGBChangesNothing() throws {
        let image = try decode(png(TestProfile.primaries(ReferenceColors.sRGB, .sRGB)))
        #expect(image.pixels == noise)
        #expect(image.header.colorConversion == .unneeded)
        #expect(image.header.colorProfile == "test")
    }

    @Test func profileSlightlyDifferentFromSRGBIsApplied() throws {
        #expect(try decode(png(TestProfile.primaries(ReferenceColors.sRGB, .gamma(2.2)))).pixels != noise)
    }

    @Test func profilesThatCannotBeUsedAreIgnored() throws {
        let sane = TestProfile.primaries(ReferenceColors.displayP3, .sRGB)
        var oversized = sane + [UInt8](repeating: 0, count: ColorSource.maximumProfileBytes)
        oversized.replaceSubrange(0..<4, with: TestPNG.number(oversized.count))
        let broken: [[UInt8]] = [
            [UInt8](repeating: 7, count: 500), Array(sane.prefix(140)), TestProfile.gray(.gamma(1)), TestProfile.cmyk(),
            oversized,
        ]
        let jpeg = try noise.encoded(as: .jpeg, quality: 90)
        let untagged = try decode(jpeg).pixels
        for profile in broken {
            let image = try decode(TestTagged.jpeg(jpeg, profile: profile))
            #expect(image.pixels == untagged)
            #expect(image.header.colorConversion == .unsupported)
            #expect(image.header.colorProfile != nil)
            #expect(try decode(png(profile)).pixels == noise)
            let kept = try decode(TestTagged.jpeg(jpeg, profile: profile), options: DecodeOptions(keepsProfile: true))
            #expect(kept.iccProfile == nil)
        }
    }

    @Test(arguments: [TestProfile.primaries(ReferenceColors.displayP3, .sRGB), TestProfile.lightTable()])
    func everyDamageToAProfileGivesAnImage(profile: [UInt8]) throws {
        let small = TestImage.noise(3, 2, seed: 1, isOpaque: true)
        var random = SeededGenerator(seed: 5)
        for offset in profile.indices.prefix(450) {
            var damaged = profile
            damaged[offset] = UInt8(truncatingIfNeeded: random.next())
            #expect(try decode(TestTagged.png(small, chunks: [TestTagged.iccp(damaged)])).pixels.size == small.size)
            let cut = Array(profile.prefix(offset))
            #expect(try decode(TestTagged.png(small, chunks: [TestTagged.iccp(cut)])).pixels.size == small.size)
        }
    }

    @Test func colorsAreConvertedAfterScalingUnlessLinear() throws {
        let profile = TestProfile.primaries(ReferenceColors.displayP3, .sRGB)
        let photo = TestImage.photo(90, 70)
        let file = TestTagged.png(photo, chunks: [TestTagged.iccp(profile)])
        func expected(_ pixel: ArraySlice<UInt8>) -> [Double] {
            ReferenceColors.sRGBBytes(of: pixel, ReferenceColors.displayP3, ReferenceColors.sRGBLight)
        }
        let small = DecodeOptions(target: .maximumSide(31))
        let untagged = try decode(TestTagged.png(photo, chunks: []), options: small).pixels
        #expect(difference(try decode(file, options: small).pixels, from: untagged, expected) < 0.75)

        var light = small
        light.resampling.usesLinearLight = true
        let whole = try decode(file).pixels
        let scaled = whole.turned(.up, scaledTo: untagged.size, resampling: light.resampling, hasAlpha: false)
        let image = try decode(file, options: light).pixels
        #expect(difference(image, from: scaled) { $0.prefix(3).map(Double.init) } == 0)
    }

    @Test func colorConversionDoesNotDependOnPieceSizes() throws {
        let file = png(TestProfile.lightTable())
        let whole = try decode(file)
        #expect(try decode(file, pieces: { 1 }) == whole)
        #expect(try decode(file, pieces: { 333 }) == whole)
    }

    @Test func previewColorsAreConvertedLikeTheImage() throws {
        let photo = TestImage.photo(80, 60)
        let profile = TestProfile.primaries(ReferenceColors.displayP3, .gamma(1.8))
        let progressive = try photo.encoded(as: .jpeg, quality: 90, isProgressive: true)
        let files = [
            TestTagged.png(photo, colorType: 2, chunks: [TestTagged.iccp(profile)]),
            TestTagged.jpeg(progressive, profile: profile),
        ]
        for file in files {
            let decoder = StreamingDecoder()
            // Everything but the end marker.
            try append(file, 0..<file.count - 2, to: decoder)
            try decoder.begin()
            let preview = try #require(try decoder.preview())
            try append(file, file.count - 2..<file.count, to: decoder)
            let image = try decoder.finish()
            let last = (image.pixels.height / 2) * image.pixels.width * 4
            #expect(preview.completeRows == 60)
            #expect(difference(preview.pixels, from: image.pixels) { $0.map(Double.init) } < 30)
            #expect(
                preview.pixels.bytes.prefix(last).elementsEqual(image.pixels.bytes.prefix(last)) || preview.scan != nil)
        }
    }

    @Test func keptColorProfileIsReturned() throws {
        let profile = TestProfile.primaries(ReferenceColors.displayP3, .sRGB)
        let options = DecodeOptions(keepsProfile: true)
        let image = try decode(png(profile), options: options)
        #expect(image.pixels == noise)
        #expect(image.iccProfile == profile)
        #expect(try decode(TestTagged.png(noise, chunks: []), options: options).iccProfile == nil)
    }

    @Test func decodePlanIncludesColorConversionMemory() throws {
        let plain = StreamingDecoder()
        try append(TestTagged.png(noise, chunks: []), to: plain)
        for profile in [TestProfile.primaries(ReferenceColors.displayP3, .sRGB), TestProfile.lightTable()] {
            let decoder = StreamingDecoder()
            try append(png(profile), to: decoder)
            let more = try #require(decoder.plan).estimatedBytes - (try #require(plain.plan).estimatedBytes)
            let held = try #require(memoryUsage(profile))
            #expect(held > profile.count)
            #expect(more >= held + profile.count)
            #expect(more < 2 << 20)
        }
    }

    /// Returns the memory held by Little CMS while it prepares a conversion.
    private func memoryUsage(_ profile: [UInt8]) -> Int? {
        guard let handle = ColorProfileHandle(.profile(profile)), handle.prepare(tables: true) else { return nil }
        return handle.memoryUsage
    }
}
