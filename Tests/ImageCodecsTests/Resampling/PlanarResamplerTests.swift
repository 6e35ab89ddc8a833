import CResampling
import ImageTestSupport
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(5)))
struct PlanarResamplerTests {
    /// The planes of an image with pseudorandom samples.
    private struct Planes {
        let size: PixelSize
        let luma: [UInt8]
        let blue: [UInt8]
        let red: [UInt8]

        init(_ size: PixelSize, seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            func samples(_ size: PixelSize) -> [UInt8] {
                (0..<size.area).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            self.size = size
            let chromaSize = PlanarResampler.chromaSize(of: size)
            (luma, blue, red) = (samples(size), samples(chromaSize), samples(chromaSize))
        }

        /// Passes all rows to `sink` and calls `afterRow` after each row of luma.
        func feed(_ sink: any PlaneSink, afterRow: () -> Void = {}) {
            let (width, chromaWidth) = (size.width, PlanarResampler.chromaSize(of: size).width)
            for y in 0..<size.height {
                if y.isMultiple(of: 2) {
                    let range = y / 2 * chromaWidth..<(y / 2 + 1) * chromaWidth
                    sink.append(blueRow: blue.span.extracting(range), redRow: red.span.extracting(range))
                }
                sink.append(lumaRow: luma.span.extracting(y * width..<(y + 1) * width))
                afterRow()
            }
        }

        /// Returns the pixels of a part at another size, computed in double precision and rounded.
        func scaled(_ region: PixelRegion, to target: PixelSize, _ filter: Resampling.Filter) -> [UInt8] {
            let scaler = ReferenceScaler(resampling: Resampling(filter: filter))
            func scale(_ samples: [UInt8], _ size: PixelSize, _ region: PixelRegion) -> [Double] {
                scaler.scale(
                    samples.flatMap { [Double($0), 0, 0, 255] }, of: size, most: 255, region: region, to: target)
            }
            let luma = scale(luma, size, region)
            let chromaSize = PlanarResampler.chromaSize(of: size)
            let (blue, red) = (
                scale(blue, chromaSize, region.scaled(by: 0.5)), scale(red, chromaSize, region.scaled(by: 0.5))
            )
            return stride(from: 0, to: luma.count, by: 4).flatMap { index -> [UInt8] in
                // ITU-R BT.601, limited range.
                let (y, u, v) = (1.16438 * (luma[index] - 16), blue[index] - 128, red[index] - 128)
                let pixel = [y + 1.59603 * v, y - 0.39176 * u - 0.81297 * v, y + 2.01723 * u, 255]
                return pixel.map { UInt8(min(max($0, 0), 255).rounded()) }
            }
        }
    }

    private func scale(
        _ planes: Planes, _ region: PixelRegion, to target: PixelSize, _ filter: Resampling.Filter
    ) -> [UInt8] {
        let rows = RowCollector()
        planes.feed(PlanarResampler(from: planes.size, region: region, to: target, filter: filter, sink: rows))
        #expect(rows.rowCount == target.height)
        return rows.bytes
    }

    private func check(_ size: PixelSize, _ region: PixelRegion, to target: PixelSize, _ filter: Resampling.Filter) {
        let planes = Planes(size, seed: UInt64(size.area + target.area))
        let result = scale(planes, region, to: target, filter)
        let reference = planes.scaled(region, to: target, filter)
        let worst = zip(result, reference).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(result.count == reference.count && worst <= 1, "\(size) to \(target), \(filter): \(worst)")
    }

    @Test(arguments: Resampling.Filter.allCases)
    func scaledPlanesMatchReference(filter: Resampling.Filter) {
        for (source, target) in [
            ((64, 48), (32, 24)), ((65, 49), (23, 17)), ((97, 33), (31, 16)), ((9, 7), (3, 3)), ((2, 2), (1, 1)),
            ((5, 100), (2, 31)), ((130, 4), (40, 2)),
        ] {
            let size = PixelSize(width: source.0, height: source.1)
            check(size, PixelRegion(whole: size), to: PixelSize(width: target.0, height: target.1), filter)
        }
    }

    @Test(arguments: 0..<20)
    func scaledPlanesMatchReferenceForRandomRegions(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let size = PixelSize(
            width: .random(in: 20...160, using: &random), height: .random(in: 20...120, using: &random))
        let region = PixelRegion(
            width: .random(in: 8...Double(size.width), using: &random),
            height: .random(in: 8...Double(size.height), using: &random), inTheMiddleOf: size)
        let target = PixelSize(
            width: max(1, Int(region.width / .random(in: 1...5, using: &random))),
            height: max(1, Int(region.height / .random(in: 1...5, using: &random))))
        check(size, region, to: target, .lanczos3)
    }

    @Test func scaledRowsOfPlanesAreDeliveredAsSoonAsPossible() {
        let size = PixelSize(width: 30, height: 90)
        let rows = RowCollector()
        let resampler = PlanarResampler(
            from: size, region: PixelRegion(whole: size), to: PixelSize(width: 10, height: 30), filter: .lanczos3,
            sink: rows)
        var counts: [Int] = []
        Planes(size, seed: 1).feed(resampler) { counts.append(rows.rowCount) }
        // As for pixels, row 0 depends on row 9 of luma, and on row 4 of chroma, which arrives before.
        #expect(counts[8] == 0)
        #expect(counts[9] == 1)
        #expect(counts[89] == 30)
    }

    @Test func planarResamplerIgnoresExcessRows() {
        let size = PixelSize(width: 8, height: 8)
        let rows = RowCollector()
        let resampler = PlanarResampler(
            from: size, region: PixelRegion(whole: size), to: PixelSize(width: 3, height: 3), filter: .lanczos3,
            sink: rows)
        Planes(size, seed: 1).feed(resampler)
        Planes(size, seed: 2).feed(resampler)
        #expect(rows.rowCount == 3)
    }

    @Test(arguments: Resampling.Filter.allCases)
    func memoryOfAPlanarResamplerCoversItsTablesAndRows(filter: Resampling.Filter) {
        for (source, target) in [
            ((16_383, 2), (8_191, 1)), ((3_000, 2_000), (1_000, 667)), ((300, 200), (150, 100)), ((2, 2), (1, 1)),
        ] {
            let size = PixelSize(width: source.0, height: source.1)
            let target = PixelSize(width: target.0, height: target.1)
            let held = [size, PlanarResampler.chromaSize(of: size)].enumerated().reduce(0) { sum, plane in
                let rows = ResamplingWeights(from: plane.element.height, to: target.height, filter: filter)
                let columns = ResamplingWeights(from: plane.element.width, to: target.width, filter: filter)
                let tables = [rows, columns].reduce(0) { $0 + $1.weights.count * 4 + $1.count * 16 }
                let columnBytes = (columns.maximumTaps + 15) / 16 * 32 + 4 + rows.maximumTaps * 4
                // There are two planes of chroma.
                return sum + tables + (plane.offset + 1) * target.width * columnBytes
            }
            let estimate = PlanarResampler.workingBytes(
                from: size, region: PixelRegion(whole: size), to: target, filter: filter)
            #expect(estimate >= held && estimate < held * 2 + (16 << 10), "\(size) to \(target)")
        }
    }

    private static let lengths: [(source: Int, target: Int)] = [
        (1, 1), (2, 1), (3, 2), (7, 3), (16, 16), (64, 9), (255, 100), (1_001, 40), (4_000, 3), (100, 37), (99, 33),
    ]

    @Test(arguments: lengths, Resampling.Filter.allCases)
    func vectorFilteringOfSamplesEqualsPlainFiltering(
        _ lengths: (source: Int, target: Int), filter: Resampling.Filter
    ) {
        let weights = ResamplingWeights(from: lengths.source, to: lengths.target, filter: filter)
        let columns = FixedPointColumns(weights, step: FixedPointColumns.sampleStep)
        let samples = Planes(PixelSize(width: columns.sourceCount, height: 1), seed: 5).luma
        var results = [[Float]](repeating: [Float](repeating: .nan, count: lengths.target), count: 3)
        columns.withTable { table in
            #expect(table.pointee.length % 16 == 0)
            let starts = UnsafeBufferPointer(start: table.pointee.starts, count: lengths.target)
            #expect(starts.allSatisfy { $0 >= 0 && Int($0 + table.pointee.length) <= columns.sourceCount })
            cresampling_filter_plane_plain(table, samples, &results[0])
            cresampling_filter_plane(table, samples, &results[1])
            cresampling_filter_plane_narrow(table, samples, &results[2])
        }
        #expect(results[1] == results[0])
        #expect(results[2] == results[0], "without AVX2")
    }

    @Test(arguments: [1, 3, 4, 7, 8, 31, 100])
    func vectorConversionOfPlanesEqualsPlainConversion(count: Int) {
        var random = SeededGenerator(seed: 9)
        let samples = (0..<3).map { _ in (0..<count).map { _ in Float.random(in: -60...320, using: &random) } }
        var pixels = [UInt8](repeating: 0, count: count * 4)
        var plain = [UInt8](repeating: 1, count: count * 4)
        samples[0].withUnsafeBufferPointer { luma in
            samples[1].withUnsafeBufferPointer { blue in
                samples[2].withUnsafeBufferPointer { red in
                    var planes = CResamplingPlanes(
                        luma: luma.baseAddress!, blue: blue.baseAddress!, red: red.baseAddress!, count: Int32(count))
                    cresampling_join_planes(&planes, &pixels)
                    cresampling_join_planes_plain(&planes, &plain)
                }
            }
        }
        #expect(pixels == plain)
        if count > 30 { #expect(pixels.contains(0) && pixels.enumerated().contains { $0 % 4 < 3 && $1 == 255 }) }
    }
}
