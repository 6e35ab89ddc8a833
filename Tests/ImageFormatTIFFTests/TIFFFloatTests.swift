#if TIFF
import CTIFF
import ImageCodecs
import ImageFormatTIFF
import ImageTestSupport
import Testing

/// Samples that are floating-point numbers.
struct TIFFFloatTests {
    private static let values = [
        0, 0.25, 0.5, 1, 0.1, 0x1p-15, 0x1p-20, -0.5, -0.0, 2, .infinity, .nan, -.infinity, 0.999,
    ]

    /// Returns a file whose pixels have these samples, each of a gray pixel or a third of one.
    private func file(
        _ values: [Double], bits: Int, channels: Int, compression: Int32 = COMPRESSION_NONE, mode: String = "w",
        predictor: Int32? = nil
    ) throws -> [UInt8] {
        let bytes = values.flatMap { value -> [UInt8] in
            let pattern =
                switch bits {
                case 16: UInt64(Self.half(value))
                case 32: UInt64(Float(value).bitPattern)
                default: value.bitPattern
                }
            return (0..<bits / 8).map { UInt8(truncatingIfNeeded: pattern >> UInt64(8 * $0)) }
        }
        var tags = [(tag: TIFFTAG_SAMPLEFORMAT, value: UInt32(SAMPLEFORMAT_IEEEFP))]
        if let predictor { tags.append((TIFFTAG_PREDICTOR, UInt32(predictor))) }
        return try TestTIFF(
            size: PixelSize(width: values.count / channels, height: 1), bits: bits, channels: channels,
            photometric: channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB, compression: compression, mode: mode,
            tags: tags, strip: bytes
        ).file()
    }

    /// Returns the nearest number of 16 bits, rounded to zero.
    private static func half(_ value: Double) -> UInt16 {
        let sign: UInt16 = value.sign == .minus ? 0x8000 : 0
        guard value.isFinite else { return sign | (value.isNaN ? 0x7E00 : 0x7C00) }
        let exponent = value == 0 ? -15 : max(Int(value.magnitude.exponent), -15)
        let unit = Double(sign: .plus, exponent: max(exponent, -14) - 10, significand: 1)
        return sign | UInt16(exponent + 15) << 10 | UInt16(value.magnitude / unit) & 0x3FF
    }

    private func samples(_ file: [UInt8]) throws -> [Int] {
        let image = try StreamingDecoder.decode(
            file.span, options: DecodeOptions(keepsProfile: true, pixelFormat: .rgba16),
            customFormats: [TIFFFormat()])
        #expect(image.header.bitsPerChannel == 16)
        return stride(from: 0, to: image.pixels.bytes.count, by: 2).map {
            Int(image.pixels.bytes[$0]) | Int(image.pixels.bytes[$0 + 1]) << 8
        }
    }

    @Test(arguments: [16, 32, 64], ["wl", "wb", "w8"])
    func numbersFromZeroToOneAreKeptAndOthersAreClamped(bits: Int, mode: String) throws {
        let samples = try samples(file(Self.values, bits: bits, channels: 1, mode: mode))
        for (index, value) in Self.values.enumerated() {
            let expected = (value > 0 ? min(value, 1) : 0) * 65_535
            #expect(abs(Double(samples[index * 4]) - expected) <= (bits == 16 ? 33 : 0.5), "\(value)")
            #expect(samples[index * 4 + 3] == 65_535)
        }
    }

    @Test(
        arguments: [16, 32, 64],
        [COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD, COMPRESSION_LZMA, COMPRESSION_PACKBITS])
    func compressionIsTheSameAsOfOtherSamples(bits: Int, compression: Int32) throws {
        let colors = (0..<60).map { Double($0 * 17 % 64) / 64 }
        let plain = try samples(file(colors, bits: bits, channels: 3))
        let predictor = compression == COMPRESSION_PACKBITS ? nil : PREDICTOR_FLOATINGPOINT
        // libtiff 4.5 writes the bytes of a foreign order with this predictor in the wrong one.
        for mode in predictor == nil ? ["wl", "wb"] : ["w"] {
            let file = try file(
                colors, bits: bits, channels: 3, compression: compression, mode: mode, predictor: predictor)
            #expect(try samples(file) == plain, "\(mode)")
        }
        #expect(plain[0..<4].elementsEqual(colors[0..<3].map { Int(($0 * 65_535).rounded()) } + [65_535]))
    }

    @Test(arguments: [1, 3]) func numbersAreLinearLight(channels: Int) throws {
        let file = try file([0, 0, 0, 0.2140, 0.2140, 0.2140, 1, 1, 1], bits: 32, channels: channels)
        let image = try StreamingDecoder.decode(file.span, customFormats: [TIFFFormat()])
        #expect(image.header.colorConversion == .converted)
        let reds = stride(from: 0, to: image.pixels.bytes.count, by: 4 * 3 / channels).map { image.pixels.bytes[$0] }
        #expect(reds.count == 3 && reds[0] == 0 && (127...128).contains(reds[1]) && reds[2] == 255, "\(reds)")
    }

    @Test func damagedFileGivesAnErrorOrAnImage() throws {
        let whole = try file(Self.values, bits: 32, channels: 1, compression: COMPRESSION_LZW, mode: "wl")
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var damaged = whole
            let place = Int.random(in: whole.indices, using: &random)
            damaged[place] = UInt8.random(in: 0...255, using: &random)
            let limits = DecodeLimits(maximumPixels: 1 << 16)
            _ = try? StreamingDecoder.decode(damaged.span, limits: limits, customFormats: [TIFFFormat()])
        }
    }
}
#endif
