import ImageCodecs
import ImageProcessing
import ImageTestSupport
import Testing

struct ThumbHashTests {
    @Test func hashOfAUniformColorIsThatColor() throws {
        for pixel: [UInt8] in [[200, 100, 50, 255], [10, 10, 10, 255], [255, 255, 255, 255]] {
            let image = try #require(
                PixelBuffer(
                    size: PixelSize(width: 20, height: 10), bytes: Array(repeatElement(pixel, count: 200).joined())))
            let placeholder = try #require(PixelBuffer(thumbHash: image.thumbHash()))
            #expect(placeholder.size.width == 32)
            let color = placeholder[16, 8]
            // Lightness and colors have 64 levels.
            for (actual, expected) in zip([color.red, color.green, color.blue], pixel) {
                #expect(abs(Int(actual) - Int(expected)) <= 12)
            }
            #expect(color.alpha == 255)
        }
    }

    @Test func placeholderResemblesTheImage() throws {
        let image = try TestImages.photo(width: 100, height: 75)
        let placeholder = try #require(PixelBuffer(thumbHash: image.thumbHash()))
        let small = try image.applying(
            [.resize(to: .fill(placeholder.size)), .blur(sigma: 3)])
        let difference = zip(small.bytes, placeholder.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(difference / small.bytes.count < 12)
    }

    @Test func transparencyIsKept() throws {
        var image = Samples.noise(PixelSize(width: 20, height: 40), isOpaque: true)
        image = try image.applying([.brightness(0.5), .pad(bottom: 40)])
        let placeholder = try #require(PixelBuffer(thumbHash: image.thumbHash()))
        #expect(placeholder[placeholder.width / 2, 2].alpha > 200)
        #expect(placeholder[placeholder.width / 2, placeholder.height - 2].alpha < 50)
    }

    @Test func shortenedHashIsRefused() throws {
        for hasAlpha in [true, false] {
            let hash = try TestImages.photo(width: 50, height: 50, hasAlpha: hasAlpha).thumbHash()
            for count in 0..<hash.count { #expect(PixelBuffer(thumbHash: Array(hash.prefix(count))) == nil) }
            #expect(PixelBuffer(thumbHash: hash) != nil)
        }
    }

    @Test func anyBytesAreSafe() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<200 {
            let hash = (0..<30).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect((PixelBuffer(thumbHash: hash)?.size.area ?? 1) > 0)
        }
    }
}

struct BlurHashTests {
    /// The example of the specification of BlurHash.
    private let hash = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"

    @Test func exampleOfTheSpecificationIsDecoded() throws {
        let image = try #require(PixelBuffer(blurHash: hash, size: PixelSize(width: 32, height: 24)))
        #expect(image.isOpaque)
        // Frequencies that are encoded again are the same, except for the rounding of pixels.
        let again = image.blurHash(columns: 4, rows: 3)
        #expect(again.prefix(1) == hash.prefix(1))
        let decoded = try #require(PixelBuffer(blurHash: again, size: PixelSize(width: 32, height: 24)))
        let difference = zip(image.bytes, decoded.bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(difference / image.bytes.count < 6)
    }

    @Test func uniformColorIsExact() throws {
        let pixel: [UInt8] = [200, 100, 50, 255]
        let size = PixelSize(width: 9, height: 7)
        let image = try #require(PixelBuffer(size: size, bytes: Array(repeatElement(pixel, count: 63).joined())))
        #expect(image.blurHash(columns: 1, rows: 1) == "00M|T9")
        #expect(PixelBuffer(blurHash: "00M|T9", size: size) == image)
    }

    @Test(arguments: [
        "", "LEHV6", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjj", "LEHV6nWB2yk8pyo0adR*.7kCMdn\"",
        "~~~~~~", "00~~~~",
    ])
    func otherTextIsRefused(text: String) {
        #expect(PixelBuffer(blurHash: text, size: PixelSize(width: 4, height: 4)) == nil)
    }

    @Test func impossibleSizeIsRefused() {
        for size in [(0, 4), (4, -1), (.max, .max), (4097, 4097), (16_385, 1), (1, .max)] {
            #expect(PixelBuffer(blurHash: hash, size: PixelSize(width: size.0, height: size.1)) == nil)
        }
    }

    @Test func numbersOfFrequenciesAreLimited() throws {
        let image = try TestImages.photo(width: 120, height: 90)
        #expect(image.blurHash(columns: 100, rows: -3).count == 4 + 2 * 9)
        #expect(PixelBuffer(transparent: PixelSize(width: 0, height: 0)).blurHash().isEmpty)
    }
}
