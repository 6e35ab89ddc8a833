import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// The requirements for every row decoder, regardless of its format.
@Suite
struct RowDecoderTests {
    static let formats: [ImageFormat] = [.png, .webp, .gif]

    @Test(arguments: formats)
    func imageFileCutAnywhereIsAnErrorUnlessAllPixelsAreThere(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 24, height: 18, hasAlpha: true).encoded(as: format)
        let whole = try decodeRows(file)
        var errors = 0
        for length in file.indices {
            do {
                let rows = try decodeRows(Array(file.prefix(length)))
                #expect(rows.bytes == whole.bytes, "\(length) of \(file.count) bytes")
            } catch {
                errors += 1
            }
        }
        // The end chunk and two checksums of a PNG.
        #expect(errors >= file.count - 24)
    }

    @Test(arguments: formats)
    func aFileCutBehindItsHeaderIsTruncated(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 24, height: 18).encoded(as: format)
        #expect(throws: CodecError.truncated(format)) { try decodeRows(Array(file.prefix(file.count * 2 / 3))) }
    }

    @Test(arguments: formats)
    func imageWithFlippedBitsGivesAnErrorOrAnImage(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 24, height: 18, hasAlpha: true).encoded(as: format)
        let limits = DecodeLimits(maximumPixels: 1 << 20)
        for offset in file.indices {
            for bit in [0, 3, 7] {
                var damaged = file
                damaged[offset] ^= 1 << bit
                if let decoded = try? decodeRows(damaged, limits: limits) {
                    #expect(decoded.bytes.count == decoded.size.area * 4)
                }
            }
        }
    }

    @Test(arguments: formats)
    func bytesAfterTheEndOfAnImageAreIgnored(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 24, height: 18).encoded(as: format)
        let longer = file + [UInt8](repeating: 0xAB, count: 100)
        #expect(try decodeRows(longer).bytes == decodeRows(file).bytes)
        #expect(try decodeRows(longer, step: 1).bytes == decodeRows(file).bytes)
    }

    @Test(arguments: formats)
    func decoderCanBeReleasedHalfway(format: ImageFormat) throws {
        let file = try TestImages.photo(width: 64, height: 64).encoded(as: format)
        let header = try #require(try ImageHeader.probe(file.span))
        let decoder = try #require(descriptor(format)).rowDecoder(
            for: header, rowSize: header.size, limits: DecodeLimits(), toleratesDamage: false)
        try decoder.append(file.span.extracting(first: file.count / 2), to: RowCollector())
        #expect(decoder.trailingOrientation == nil)
    }

    @Test
    func workingBytesSaturateInsteadOfOverflowing() {
        var huge = ImageHeader(format: .png, size: PixelSize(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF))
        #expect(PNGRowDecoder.workingBytes(of: huge, rowSize: huge.size) > 0)
        huge.isProgressive = true
        #expect(PNGRowDecoder.workingBytes(of: huge, rowSize: huge.size) == .max)
    }
}
