import Foundation
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct PNGColorChunksTests {
    private let noise = TestImage.noise(40, 40, seed: 9, isOpaque: false)
    private let adobe = TestProfile.primaries(ReferenceColors.adobeRGB, .gamma(2.2))

    private func gamma(_ value: Int) -> [UInt8] { TestPNG.chunk("gAMA", TestPNG.number(value)) }
    private func codes(_ codes: [UInt8]) -> [UInt8] { TestPNG.chunk("cICP", codes) }
    private let sRGB = TestPNG.chunk("sRGB", [0])

    private func primaries(_ numbers: [Int]) -> [UInt8] {
        TestPNG.chunk("cHRM", numbers.flatMap(TestPNG.number))
    }
    private static let adobePrimaries = [31_270, 32_900, 64_000, 33_000, 21_000, 71_000, 15_000, 6_000]

    private func image(_ chunks: [[UInt8]], keepsProfile: Bool = false) throws -> DecodedImage {
        try decode(TestTagged.png(noise, chunks: chunks), options: DecodeOptions(keepsProfile: keepsProfile))
    }

    private func error(_ image: DecodedImage, _ matrix: [[Double]], _ curve: (Double) -> Double) -> Double {
        var largest = 0.0
        for pixel in stride(from: 0, to: noise.bytes.count, by: 4) {
            let expected = ReferenceColors.sRGBBytes(of: noise.bytes[pixel..<pixel + 4], matrix, curve)
            for channel in 0..<3 {
                largest = max(largest, abs(Double(image.pixels.bytes[pixel + channel]) - expected[channel]))
            }
            guard image.pixels.bytes[pixel + 3] == noise.bytes[pixel + 3] else { return .infinity }
        }
        return largest
    }

    @Test(arguments: [100_000, 55_556, 35_714]) func pngGammaIsApplied(value: Int) throws {
        let image = try image([gamma(value)])
        #expect(error(image, ReferenceColors.sRGB) { pow($0, 100_000 / Double(value)) } < 0.75)
        #expect(image.header.colorConversion == .converted)
        #expect(image.header.colorProfile == nil)
    }

    @Test func pngPrimariesApplyOnlyWithGamma() throws {
        let image = try image([primaries(Self.adobePrimaries), gamma(45_455)])
        #expect(error(image, ReferenceColors.adobeRGB) { pow($0, 100_000 / 45_455) } < 0.75)
        #expect(try self.image([primaries(Self.adobePrimaries)]).pixels == noise)
    }

    @Test func pngGammaOfSRGBChangesNoPixels() throws {
        #expect(try image([gamma(45_455)]).pixels == noise)
        let numbers = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]
        #expect(try image([primaries(numbers), gamma(45_455)]).pixels == noise)
    }

    @Test(arguments: [0, 1, 5_000_000, 0xFFFF_FFFF]) func invalidPNGColorChunksAreIgnored(value: Int) throws {
        #expect(try image([gamma(value)]).pixels == noise)
        #expect(try image([gamma(45_455), primaries([Int](repeating: value, count: 8))]).pixels == noise)
    }

    @Test func pngColorChunksOfAnyLengthGiveAnImage() throws {
        for length in 0...40 {
            for name in ["gAMA", "cHRM", "cICP", "sRGB", "iCCP"] {
                let chunk = TestPNG.chunk(name, [UInt8](repeating: 1, count: length))
                #expect(try image([chunk]).pixels.size == noise.size)
            }
        }
    }

    @Test func pngColorCodePointsAreApplied() throws {
        let p3 = try image([codes([12, 13, 0, 1])])
        #expect(error(p3, ReferenceColors.displayP3, ReferenceColors.sRGBLight) < 0.75)
        let television = try image([codes([1, 1, 0, 1])])
        let curve = { (value: Double) in value < 0.081 ? value / 4.5 : pow((value + 0.099) / 1.099, 1 / 0.45) }
        #expect(error(television, ReferenceColors.sRGB, curve) < 0.75)
        #expect(try image([codes([1, 13, 0, 1])]).pixels == noise)
    }

    @Test(arguments: [16, 18] as [UInt8]) func highDynamicRangeIsBroughtIntoThatOfSRGB(transfer: UInt8) throws {
        let image = try image([codes([9, transfer, 0, 1])])
        let curve = transfer == 16 ? ReferenceColors.mappedPQLight : ReferenceColors.mappedHLGLight
        #expect(error(image, ReferenceColors.bt2020, curve) < 1)
        #expect(image.header.colorConversion == .converted)
    }

    @Test(arguments: [
        // PQ and HLG of 50, 203, and 1000 cd/m².
        (16, 112, 135), (16, 148, 229), (16, 192, 255), (18, 127, 136), (18, 191, 229), (18, 255, 255),
    ]) func knownLevelsOfHighDynamicRange(transfer: UInt8, value: UInt8, expected: UInt8) throws {
        let gray = try #require(PixelBuffer(size: PixelSize(width: 1, height: 1), bytes: [value, value, value, 255]))
        let pixels = try decode(TestTagged.png(gray, chunks: [codes([9, transfer, 0, 1])])).pixels.bytes
        for channel in pixels.prefix(3) { #expect(abs(Int(channel) - Int(expected)) <= 1) }
    }

    @Test func highDynamicRangeOf16BitsHasThatOf8() throws {
        var wide = DecodeOptions()
        wide.pixelFormat = .rgba16
        let file = TestTagged.png(noise, chunks: [codes([9, 16, 0, 1])])
        let (narrow, deep) = (try decode(file).pixels.bytes, try decode(file, options: wide).pixels.bytes)
        #expect(
            narrow.indices.allSatisfy {
                abs(Int(deep[2 * $0]) + Int(deep[2 * $0 + 1]) << 8 - Int(narrow[$0]) * 257) <= 257
            })
    }

    @Test(arguments: [[9, 17, 0, 1], [12, 13, 1, 1], [12, 13, 0, 0], [99, 13, 0, 1]] as [[UInt8]])
    func unsupportedPNGColorCodePointsAreIgnored(numbers: [UInt8]) throws {
        let image = try image([codes(numbers)])
        #expect(image.pixels == noise)
        #expect(image.header.colorConversion == .unsupported)
    }

    @Test func pngColorChunksHavePrecedence() throws {
        let profile = TestTagged.iccp(adobe)
        let linear = gamma(100_000)
        let p3 = codes([12, 13, 0, 1])
        let isAdobe = try image([profile]).pixels
        let isP3 = try image([p3]).pixels
        let isLinear = try image([linear]).pixels
        #expect(Set([isAdobe, isP3, isLinear, noise]).count == 4)

        #expect(try image([linear, sRGB]).pixels == noise)
        #expect(try image([linear, sRGB, profile]).pixels == isAdobe)
        #expect(try image([linear, sRGB, profile, p3]).pixels == isP3)
        // Unusable declarations are skipped in favor of the next.
        let broken = TestTagged.iccp([1, 2, 3])
        #expect(try image([broken, linear]).pixels == isLinear)
        #expect(try image([profile, codes([9, 17, 0, 1])]).pixels == isAdobe)
        #expect(try image([broken, sRGB, linear]).header.colorConversion == .unneeded)
    }

    @Test func profileIsBuiltFromPNGColorChunks() throws {
        let stored = try image([codes([12, 13, 0, 1])], keepsProfile: true)
        #expect(stored.pixels == noise)
        let profile = try #require(stored.iccProfile)
        let converted = try image([TestTagged.iccp(profile)])
        #expect(error(converted, ReferenceColors.displayP3, ReferenceColors.sRGBLight) < 1)
        #expect(try image([sRGB], keepsProfile: true).iccProfile == nil)
    }
}
