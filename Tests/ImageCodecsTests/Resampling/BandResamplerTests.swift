import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct BandResamplerTests {
    @Test func resamplingPreservesAUniformColor() throws {
        let size = PixelSize(width: 57, height: 43)
        let image = try #require(
            PixelBuffer(size: size, bytes: Array(repeatElement([200, 3, 255, 128], count: size.area).joined())))
        for target in [
            PixelSize(width: 1, height: 1), PixelSize(width: 20, height: 43), PixelSize(width: 13, height: 11),
        ] {
            let result = resample(image, to: target, hasAlpha: true)
            #expect(Set(result.bytes.indices.map { "\($0 % 4): \(result.bytes[$0])" }).count == 4)
            #expect(result[0, 0] == (200, 3, 255, 128))
        }
    }

    @Test func transparentPixelsDoNotAffectScaledColors() {
        // White on transparent red.
        var image = PixelBuffer(transparent: PixelSize(width: 40, height: 40))
        for pixel in 0..<1600 {
            let isWhite = pixel % 40 < 20
            image.bytes.replaceSubrange(
                pixel * 4..<pixel * 4 + 4, with: isWhite ? [255, 255, 255, 255] : [255, 0, 0, 0])
        }
        let result = resample(image, to: PixelSize(width: 9, height: 9), hasAlpha: true)
        for x in 0..<9 where result[x, 4].alpha > 0 { #expect(result[x, 4].green == 255) }
    }

    @Test func scaledRowsAreDeliveredAsSoonAsPossible() {
        let image = TestImage.photo(30, 90)
        let rows = RowCollector()
        let resampler = BandResampler(
            from: image.size, to: PixelSize(width: 10, height: 30), hasAlpha: false, sink: rows)
        var counts: [Int] = []
        for y in 0..<90 {
            resampler.append(row: image.bytes.span.extracting(y * 120..<(y + 1) * 120))
            counts.append(rows.rowCount)
        }
        // Row 0 has its center at 1.5 and reaches less than 9 further, so that the last row it needs is number 9.
        #expect(counts[8] == 0)
        #expect(counts[9] == 1)
        #expect(counts[89] == 30)
    }

    @Test func resamplerIgnoresExcessRows() {
        let image = TestImage.photo(8, 8)
        let rows = RowCollector()
        let resampler = BandResampler(from: image.size, to: PixelSize(width: 3, height: 3), hasAlpha: false, sink: rows)
        image.feed(resampler)
        image.feed(resampler)
        #expect(rows.rowCount == 3)
    }

    private func resample(_ image: PixelBuffer, to size: PixelSize, hasAlpha: Bool = false) -> PixelBuffer {
        let canvas = OrientedCanvas(stored: size, orientation: .up)
        image.feed(BandResampler(from: image.size, to: size, hasAlpha: hasAlpha, sink: canvas))
        #expect(canvas.completeRows == size.height)
        return canvas.pixels
    }
}
