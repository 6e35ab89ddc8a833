import Foundation
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct BandResamplerTests {
    @Test(arguments: [false, true])
    func everySizeUpTo64MatchesFilteringTheWholeImageAtOnce(hasAlpha: Bool) {
        for source in [1, 2, 5, 16, 33] {
            let image = TestImage.noise(source, source, seed: UInt64(source), isOpaque: !hasAlpha)
            for target in 1...source {
                // Both ways at once, and each way alone.
                check(image, PixelSize(width: target, height: target), hasAlpha: hasAlpha)
                check(image, PixelSize(width: target, height: source), hasAlpha: hasAlpha)
                check(image, PixelSize(width: source, height: target), hasAlpha: hasAlpha)
            }
        }
    }

    @Test func everyPairOfLengthsUpTo64IsRightAlongBothAxes() {
        for source in 1...64 {
            let image = TestImage.noise(source, 1, seed: UInt64(source), isOpaque: true)
            let upright = image.turned(.right)
            for target in 1...source {
                check(image, PixelSize(width: target, height: 1), hasAlpha: false)
                check(upright, PixelSize(width: 1, height: target), hasAlpha: false)
            }
        }
    }

    @Test(arguments: 0..<12)
    func randomLargerSizesMatchToo(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let source = PixelSize(
            width: .random(in: 65...400, using: &random), height: .random(in: 65...300, using: &random))
        let target = PixelSize(
            width: .random(in: 1...source.width, using: &random), height: .random(in: 1...source.height, using: &random)
        )
        let hasAlpha = seed % 2 == 0
        let image = TestImage.noise(source.width, source.height, seed: seed, isOpaque: !hasAlpha)
        check(image, target, hasAlpha: hasAlpha)
    }

    @Test func aPlainColourStaysTheSame() throws {
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

    @Test func coloursOfTransparentPixelsDoNotBleed() {
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

    @Test func rowsComeAsSoonAsTheirSupportIsComplete() {
        let image = TestImage.photo(30, 90)
        let rows = RowCollector()
        let resampler = BandResampler(
            from: image.size, to: PixelSize(width: 10, height: 30), hasAlpha: false, sink: rows)
        var counts: [Int] = []
        for y in 0..<90 {
            resampler.append(row: image.bytes.span.extracting(y * 120..<(y + 1) * 120))
            counts.append(rows.rowCount)
        }
        // Row 0 has its centre at 1.5 and reaches less than 9 further, so that the last row it needs is number 9.
        #expect(counts[8] == 0)
        #expect(counts[9] == 1)
        #expect(counts[89] == 30)
    }

    @Test func rowsBehindTheLastAreIgnored() {
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

    /// Within 1 of the reference everywhere, alpha included; colours count where there is alpha.
    private func check(_ image: PixelBuffer, _ size: PixelSize, hasAlpha: Bool) {
        let result = resample(image, to: size, hasAlpha: hasAlpha).bytes
        let reference = WholeImageFilter.lanczos3(image, to: size)
        var worst = 0
        for pixel in stride(from: 0, to: result.count, by: 4) {
            worst = max(worst, abs(Int(result[pixel + 3]) - Int(reference[pixel + 3])))
            guard result[pixel + 3] > 0, reference[pixel + 3] > 0 else { continue }
            for channel in pixel..<pixel + 3 { worst = max(worst, abs(Int(result[channel]) - Int(reference[channel]))) }
        }
        #expect(worst <= 1, "\(image.size) to \(size)")
    }
}

/// The filter as the textbook has it: in double precision, over the whole image, a pixel at a time.
private enum WholeImageFilter {
    static func lanczos3(_ image: PixelBuffer, to size: PixelSize) -> [UInt8] {
        var planes = image.bytes.map(Double.init)
        for pixel in stride(from: 0, to: planes.count, by: 4) {
            for channel in pixel..<pixel + 3 { planes[channel] *= planes[pixel + 3] / 255 }
        }
        let narrow = filter(
            planes, count: image.width, to: size.width, lines: image.height, step: 4, lineStep: image.width * 4)
        let small = filter(
            narrow, count: image.height, to: size.height, lines: size.width, step: size.width * 4, lineStep: 4)
        var result = [UInt8](repeating: 0, count: size.area * 4)
        for pixel in stride(from: 0, to: result.count, by: 4) {
            let alpha = small[pixel + 3]
            guard alpha >= 0.5 else { continue }
            result[pixel + 3] = UInt8(min(255, alpha.rounded()))
            for channel in pixel..<pixel + 3 {
                result[channel] = UInt8(max(0, min(255, (small[channel] * 255 / min(alpha, 255)).rounded())))
            }
        }
        return result
    }

    private static func filter(
        _ values: [Double], count: Int, to target: Int, lines: Int, step: Int, lineStep: Int
    ) -> [Double] {
        let ratio = Double(count) / Double(target)
        let isHorizontal = step == 4
        var result = [Double](repeating: 0, count: target * lines * 4)
        for sample in 0..<target {
            let centre = (Double(sample) + 0.5) * ratio
            let taps = Int((centre - 3 * ratio).rounded(.down)) - 1...Int((centre + 3 * ratio).rounded(.up)) + 1
            let weights = taps.map { tap -> Double in
                let x = (Double(tap) + 0.5 - centre) / ratio
                if x == 0 { return 1 }
                return abs(x) >= 3 ? 0 : sinc(x) * sinc(x / 3)
            }
            let sum = weights.reduce(0, +)
            for line in 0..<lines {
                let to = isHorizontal ? (line * target + sample) * 4 : (sample * lines + line) * 4
                for (tap, weight) in zip(taps, weights) where weight != 0 {
                    let from = line * lineStep + min(max(tap, 0), count - 1) * step
                    for channel in 0..<4 { result[to + channel] += values[from + channel] * weight / sum }
                }
            }
        }
        return result
    }

    private static func sinc(_ x: Double) -> Double { sin(.pi * x) / (.pi * x) }
}
