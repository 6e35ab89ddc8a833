import ImageTestSupport
import Testing

@testable import ImageCodecs

/// The resampler compared with a reference in double precision: no channel of any pixel may differ by more than one.
@Suite(.timeLimit(.minutes(5)))
struct ResamplingAccuracyTests {
    static let all = Resampling.Filter.allCases.flatMap { filter in
        [Resampling(filter: filter), Resampling(filter: filter, usesLinearLight: true)]
    }

    /// Every length is scaled to every fourth one and to itself, along both axes.
    @Test(arguments: Resampling.Filter.allCases)
    func resamplingMatchesReferenceForLengthsUpTo64(filter: Resampling.Filter) {
        let resampling = Resampling(filter: filter)
        for source in 1...64 {
            let line = TestImage.noise(source, 1, seed: UInt64(source), isOpaque: true)
            let column = line.turned(.right)
            for target in Array(stride(from: 1 + source % 4, through: 64, by: 4)) + [source] {
                let wide = PixelSize(width: target, height: 1)
                let reference = ReferenceScaler(resampling: resampling).scale(line, to: wide)
                let tall = wide.upright(.right)
                let worst = max(
                    difference(scale(line, to: wide, resampling, hasAlpha: false), reference),
                    difference(scale(column, to: tall, resampling, hasAlpha: false), reference))
                #expect(worst <= 1, "\(source) to \(target)")
            }
        }
    }

    @Test(arguments: all)
    func resamplingMatchesReferenceOnBothAxesAndWithAlpha(resampling: Resampling) {
        for (source, target) in [((17, 9), (5, 7)), ((9, 24), (9, 5)), ((6, 5), (13, 11)), ((1, 12), (3, 4))] {
            for hasAlpha in [false, true] {
                let image = TestImage.noise(source.0, source.1, seed: 3, isOpaque: !hasAlpha)
                check(image, to: PixelSize(width: target.0, height: target.1), resampling, hasAlpha: hasAlpha)
            }
        }
    }

    @Test(arguments: 0..<20)
    func resamplingMatchesReferenceForRandomSizesAndRegions(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let source = PixelSize(
            width: .random(in: 65...160, using: &random), height: .random(in: 65...120, using: &random))
        let target = PixelSize(
            width: .random(in: 1...source.width, using: &random), height: .random(in: 1...130, using: &random))
        let region = PixelRegion(
            width: .random(in: 1...Double(source.width), using: &random),
            height: .random(in: 1...Double(source.height), using: &random), inTheMiddleOf: source)
        let hasAlpha = seed >= 10
        let image = TestImage.noise(source.width, source.height, seed: seed, isOpaque: !hasAlpha)
        check(image, region: region, to: target, Self.all[Int(seed % 10)], hasAlpha: hasAlpha)
    }

    /// The shortest parts have fewer pixels than the filter, and neighbors that must not affect the result.
    @Test(arguments: 1...6, Resampling.Filter.allCases)
    func resamplingMatchesReferenceForShortRegionsInTheMiddle(length: Int, filter: Resampling.Filter) {
        let source = PixelSize(width: 40, height: 9)
        let image = TestImage.noise(source.width, source.height, seed: 5, isOpaque: true)
        let region = PixelRegion(width: Double(length), height: 3, inTheMiddleOf: source)
        for target in [PixelSize(width: 1, height: 1), PixelSize(width: 7, height: 4)] {
            check(image, region: region, to: target, Resampling(filter: filter), hasAlpha: false)
        }
    }

    @Test func resamplingOfLongLinesIsPrecise() {
        let line = TestImage.noise(8_000, 1, seed: 1, isOpaque: true)
        for target in [1, 2, 33] { check(line, to: PixelSize(width: target, height: 1), Resampling(), hasAlpha: false) }
    }

    /// White stays white only where every sample is written and the weights of each add up to one.
    @Test(arguments: Resampling.Filter.allCases)
    func resamplingWritesEverySample(filter: Resampling.Filter) throws {
        let size = PixelSize(width: 1000, height: 1)
        let line = try #require(PixelBuffer(size: size, bytes: [UInt8](repeating: 255, count: 4000)))
        for target in stride(from: 1000, through: 100, by: -23) {
            let result = scale(line, to: PixelSize(width: target, height: 1), Resampling(filter: filter))
            #expect(result == [UInt8](repeating: 255, count: target * 4))
        }
    }

    private func check(
        _ image: PixelBuffer, region: PixelRegion? = nil, to size: PixelSize, _ resampling: Resampling, hasAlpha: Bool
    ) {
        let result = scale(image, region: region, to: size, resampling, hasAlpha: hasAlpha)
        let reference = ReferenceScaler(resampling: resampling).scale(image, region: region, to: size)
        #expect(difference(result, reference) <= 1, "\(image.size) to \(size), \(resampling)")
    }

    private func scale(
        _ image: PixelBuffer, region: PixelRegion? = nil, to size: PixelSize, _ resampling: Resampling,
        hasAlpha: Bool = true
    ) -> [UInt8] {
        let canvas = OrientedCanvas(stored: size, orientation: .up)
        image.feed(
            BandResampler(
                from: image.size, region: region, to: size, resampling: resampling, hasAlpha: hasAlpha, sink: canvas))
        #expect(canvas.completeRows == size.height)
        return canvas.pixels.bytes
    }

    /// Returns the greatest difference in any channel, including alpha; colors are compared only where alpha is not
    /// zero.
    private func difference(_ result: [UInt8], _ reference: [UInt8]) -> Int {
        var worst = 0
        for pixel in stride(from: 0, to: result.count, by: 4) {
            worst = max(worst, abs(Int(result[pixel + 3]) - Int(reference[pixel + 3])))
            guard result[pixel + 3] > 0, reference[pixel + 3] > 0 else { continue }
            for channel in pixel..<pixel + 3 { worst = max(worst, abs(Int(result[channel]) - Int(reference[channel]))) }
        }
        return worst
    }
}
