import ImageEncoders
import ImageTestSupport
import Testing

@testable import ImageCodecs

/// Hashes of images, compared with those of other programs.
struct FingerprintTests {
    /// Returns an image computed from formulas, which other programs can reproduce.
    private func image(_ width: Int, _ height: Int, hasAlpha: Bool = false) throws -> PixelBuffer {
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let color = [(x * x + y * y) / 97, x * y / 53, x * 5 + y * 2]
                bytes += color.map { UInt8(truncatingIfNeeded: $0) } + [hasAlpha ? UInt8(255 - x * y % 200) : 255]
            }
        }
        return try #require(PixelBuffer(size: PixelSize(width: width, height: height), bytes: bytes))
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
    }

    /// Computed with the reference implementation of ThumbHash in Rust.
    @Test(arguments: [
        (100, 67, false, "11250625849036787348a8787779787880d208bca3"),
        (64, 96, false, "10250a25048585808389867a887878889094b90ac3"),
        (33, 100, true, "8f248622040a5430586878b8f69d08a6ffdecf9a9ce8ba"),
        (100, 9, false, "8e340a118a80808987878887af88088a77"),
        (1, 1, false, "000802070000000000000000000000000000000000000000"),
        (40, 40, true, "4c048635000a607774788777779f9a585cc0dfcdbf899dd7c8"),
    ])
    func thumbHashIsThatOfTheReference(width: Int, height: Int, hasAlpha: Bool, hash: String) throws {
        #expect(hexadecimal(try image(width, height, hasAlpha: hasAlpha).thumbHash()) == hash)
    }

    /// Computed with `phash` of imagehash 4.3.2.
    ///
    /// Pillow also rounds between the two directions of scaling.
    @Test(
        arguments: [
            (32, 32, 0xaa77_f848_c178_e649), (256, 171, 0x811c_7966_4953_b5af), (97, 71, 0xa04f_9855_dd55_d951),
            (33, 32, 0xaa7c_dc51_c568_e651), (9, 9, 0xa358_ac68_bf69_9266),
        ] as [(Int, Int, UInt64)])
    func perceptualHashIsThatOfImagehash(width: Int, height: Int, hash: UInt64) throws {
        #expect((try image(width, height).perceptualHash() ^ hash).nonzeroBitCount <= (width == 32 ? 0 : 2))
    }

    @Test(arguments: PixelFormat.allCases) func hashesHardlyDependOnThePixelFormat(format: PixelFormat) throws {
        let opaque = try image(60, 40)
        let converted = opaque.converted(to: format)
        if format != .gray8 { #expect(converted.thumbHash() == opaque.thumbHash()) }
        #expect((converted.perceptualHash() ^ opaque.perceptualHash()).nonzeroBitCount <= 2)
    }

    @Test func hashesOfLargeImagesAreThoseOfSmallOnes() throws {
        let large = TestImage.photo(600, 400)
        let small = try decode(large.encoded(as: .png), options: DecodeOptions(target: .maximumSide(100))).pixels
        let noise = TestImage.noise(600, 400, seed: 1, isOpaque: true)
        #expect(large.thumbHash().count == small.thumbHash().count)
        #expect((large.perceptualHash() ^ small.perceptualHash()).nonzeroBitCount <= 4)
        #expect((large.perceptualHash() ^ noise.perceptualHash()).nonzeroBitCount > 10)
    }

    @Test func uniformAndEmptyImagesHaveHashes() throws {
        let size = PixelSize(width: 30, height: 20)
        let white = try #require(PixelBuffer(size: size, bytes: [UInt8](repeating: 255, count: size.area * 4)))
        // All frequencies but the mean are zero.
        #expect(white.thumbHash()[5...].allSatisfy { $0 == 0 })
        #expect(white.thumbHash()[0] & 63 == 63)
        #expect(white.perceptualHash() == 1 << 63)
        let empty = PixelBuffer(transparent: PixelSize(width: 0, height: 5))
        #expect(empty.thumbHash().isEmpty && empty.perceptualHash() == 0)
    }
}
