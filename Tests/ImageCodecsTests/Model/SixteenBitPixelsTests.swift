import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Images with 16 bits per channel that are decoded to 16 bits per channel.
@Suite(.timeLimit(.minutes(1)))
struct SixteenBitPixelsTests {
    private let size = PixelSize(width: 23, height: 17)
    private let rgba16 = DecodeOptions(pixelFormat: .rgba16)

    /// Returns an image of pseudorandom samples, and these samples as RGBA.
    private func image(colorType: UInt8) -> (image: TestPNG.Image, samples: [Int]) {
        var image = TestPNG.Image(
            width: size.width, height: size.height, depth: 16, colorType: colorType, samples: [])
        var state = UInt32(colorType) + 1
        image.samples = (0..<size.area * image.channels).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 16)
        }
        let samples = stride(from: 0, to: image.samples.count, by: image.channels).flatMap { pixel -> [Int] in
            let stored = Array(image.samples[pixel..<pixel + image.channels])
            switch image.channels {
            case 1: return [stored[0], stored[0], stored[0], 65_535]
            case 2: return [stored[0], stored[0], stored[0], stored[1]]
            case 3: return stored + [65_535]
            default: return stored
            }
        }
        return (image, samples)
    }

    private func samples(_ pixels: PixelBuffer) -> [Int] {
        let bytes = pixels.bytes.span
        return stride(from: 0, to: bytes.count, by: 2).map { Int(bytes.sample(at: $0)) }
    }

    @Test(arguments: [0, 2, 4, 6] as [UInt8], [false, true])
    func everyBitOfA16BitPNGIsPreserved(colorType: UInt8, isInterlaced: Bool) throws {
        let (image, expected) = image(colorType: colorType)
        let file = TestPNG(isInterlaced: isInterlaced).file(image)
        let pixels = try decode(file, options: rgba16).pixels
        #expect(pixels.format == .rgba16)
        #expect(samples(pixels) == expected)
        #expect(try decode(file, options: rgba16) { 1 }.pixels == pixels)
        #expect(try decode(file, options: DecodeOptions()).pixels.bytes == expected.map { UInt8($0 >> 8) })
    }

    @Test func pngTransparentColorKeyWith16BitsIsTransparent() throws {
        var (image, expected) = image(colorType: 2)
        let color = Array(image.samples[9..<12])
        for channel in 0..<3 { image.samples[30 + channel] = color[channel] }
        for channel in 0..<3 { expected[40 + channel] = color[channel] }
        (expected[15], expected[43]) = (0, 0)
        let transparent = TestPNG.chunk("tRNS", color.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] })
        let pixels = try decode(TestPNG(before: [transparent]).file(image), options: rgba16).pixels
        #expect(samples(pixels) == expected)
    }

    private static let resamplings = Resampling.Filter.allCases.flatMap { filter in
        [false, true].map { Resampling(filter: filter, usesLinearLight: $0) }
    }

    @Test(arguments: [2, 6] as [UInt8], resamplings)
    func scaled16BitImageMatchesTheReference(colorType: UInt8, resampling: Resampling) throws {
        let (image, source) = image(colorType: colorType)
        for target in [PixelSize(width: 9, height: 7), PixelSize(width: 40, height: 30)] {
            let options = DecodeOptions(
                target: .fill(target), resampling: resampling, allowsUpscaling: true, pixelFormat: .rgba16)
            let pixels = try decode(TestPNG().file(image), options: options).pixels
            #expect(pixels.size == target)
            let region = ScalePlan(of: size, orientation: .up, options: options).region
            let expected = ReferenceScaler(resampling: resampling).scale(
                source.map { Double($0) }, of: size, most: 65_535, region: region, to: target)
            for (index, sample) in samples(pixels).enumerated() {
                // Nearly transparent pixels have hardly any color.
                if index % 4 < 3, expected[index / 4 * 4 + 3] < 2_000 { continue }
                let wanted = max(0, min(65_535, expected[index]))
                if abs(Double(sample) - wanted) > 2 {
                    Issue.record("\(sample), not \(wanted), at \(index) of \(target)")
                    return
                }
            }
        }
    }

    @Test(arguments: ImageOrientation.allCases)
    func oriented16BitImageIsUpright(orientation: ImageOrientation) throws {
        let (image, _) = image(colorType: 6)
        let exif = TestPNG.chunk("eXIf", TestExif.bytes(orientation: UInt8(orientation.rawValue)))
        let flat = try decode(TestPNG().file(image), options: rgba16).pixels
        let turned = try decode(TestPNG(before: [exif]).file(image), options: rgba16).pixels
        #expect(turned.size == size.upright(orientation))
        for y in 0..<size.height {
            for x in 0..<size.width {
                let place = orientation.place(x: x, y: y, in: size)
                let (from, to) = ((y * size.width + x) * 8, (place.y * turned.width + place.x) * 8)
                #expect(turned.bytes[to..<to + 8] == flat.bytes[from..<from + 8])
            }
        }
    }

    @Test(arguments: [2, 6] as [UInt8])
    func writing16BitPNGPreservesEveryBit(colorType: UInt8) throws {
        let pixels = try decode(TestPNG().file(image(colorType: colorType).image), options: rgba16).pixels
        let file = try pixels.encoded(as: .png)
        #expect(file[24] == 16 && file[25] == colorType)
        #expect(try decode(file, options: rgba16).pixels == pixels)
    }

    /// The primaries of Display P3: colors within sRGB are converted more precisely than bytes allow.
    @Test func sixteenBitColorsAreConvertedPrecisely() throws {
        let place: (Int) -> [UInt8] = { TestPNG.number($0) }
        let p3 = [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000].flatMap(place)
        let chunks = [TestPNG.chunk("gAMA", TestPNG.number(100_000)), TestPNG.chunk("cHRM", p3)]
        var image = TestPNG.Image(width: 64, height: 1, depth: 16, colorType: 2, samples: [])
        // Linear grays: the primaries do not matter.
        image.samples = (0..<64).flatMap { step in [Int](repeating: 20_000 + step * 40, count: 3) }
        let pixels = try decode(TestPNG(before: chunks).file(image), options: rgba16).pixels
        let curve = samples(pixels)
        for step in 0..<64 {
            let light = Float(20_000 + step * 40) / 65_535
            let expected = SRGBCurve.samples(of: SIMD4(repeating: light), most: 65_535).x
            #expect(abs(Float(curve[step * 4]) - expected) < 20)
        }
        #expect(Set(curve.indices.filter { $0 % 4 == 0 }.map { curve[$0] }).count == 64)
    }

    /// One step of 8 bits in linear light would be 13 steps of sRGB.
    @Test(arguments: PixelFormat.allCases.filter { $0 != .rgba16 })
    func shadowsOf16BitLinearLightKeepAllShadesOf8Bits(format: PixelFormat) throws {
        // Each of the 256 shades has a square of two pixels.
        var image = TestPNG.Image(width: 512, height: 2, depth: 16, colorType: 2, samples: [])
        image.samples = (0..<1_024).flatMap { pixel in
            [Int](repeating: Int((SRGBCurve.shared.light[pixel % 512 / 2] * 65_535).rounded()), count: 3)
        }
        let file = TestPNG(before: [TestPNG.chunk("gAMA", TestPNG.number(100_000))]).file(image)
        for (target, usesLinearLight) in [(512, false), (256, false), (256, true)] {
            let options = DecodeOptions(
                target: .maximumSide(target), resampling: Resampling(usesLinearLight: usesLinearLight),
                pixelFormat: format)
            let pixels = try decode(file, options: options).pixels
            #expect(pixels.format == format && pixels.width == target)
            for x in 0..<target {
                let color = format.load(pixels.bytes.span, at: x * format.bytesPerPixel)
                let shade = x * 256 / target
                #expect(abs(Int(color.red) - shade) <= 1 && abs(Int(color.blue) - shade) <= 1)
            }
        }
    }

    @Test func eightBitFilesAreExpandedTo16Bits() throws {
        let photo = TestImage.photo(20, 12)
        for format in EncodeOptions.formats {
            let file = try photo.encoded(as: format)
            let plain = try decode(file).pixels.bytes.map { Int($0) * 257 }
            #expect(samples(try decode(file, options: rgba16).pixels) == plain)
        }
    }
}
