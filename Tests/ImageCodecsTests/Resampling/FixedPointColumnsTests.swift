import CResampling
import Testing

@testable import ImageCodecs

@Suite(.timeLimit(.minutes(1)))
struct FixedPointColumnsTests {
    private static let cases: [(source: Int, target: Int)] = [
        (1, 1), (2, 1), (3, 2), (5, 5), (7, 3), (64, 9), (255, 254), (1_001, 40), (4_000, 3), (6, 64), (1, 9),
        (100, 52), (100, 32), (150, 40),
    ]

    /// Returns a row of pixels for all of the table's columns, with zeros where the source is shorter.
    private func row(_ weights: ResamplingWeights, _ columns: FixedPointColumns, seed: UInt32) -> [UInt8] {
        let row = bytes(weights.range.count * 4, seed: seed)
        return row + [UInt8](repeating: 0, count: columns.sourceCount * 4 - row.count)
    }

    /// Returns the floats that `filter` writes for `count` target pixels; one that it does not write equals nothing.
    private func filtered(
        _ row: [UInt8], _ columns: FixedPointColumns, count: Int,
        by filter: (UnsafePointer<CResamplingColumns>, UnsafePointer<UInt8>, UnsafeMutablePointer<Float>) -> Void
    ) -> [Float] {
        var result = [Float](repeating: .nan, count: count * 4)
        columns.withTable { filter($0, row, &result) }
        return result
    }

    /// Returns pseudorandom bytes, the same in every run.
    private func bytes(_ count: Int, seed: UInt32) -> [UInt8] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
    }

    @Test(arguments: cases, Resampling.Filter.allCases)
    func vectorResamplingEqualsPlainResampling(_ lengths: (source: Int, target: Int), filter: Resampling.Filter) {
        let weights = ResamplingWeights(from: lengths.source, to: lengths.target, filter: filter)
        let columns = FixedPointColumns(weights)
        let row = row(weights, columns, seed: 7)
        let plain = filtered(row, columns, count: lengths.target, by: cresampling_filter_plain)
        #expect(filtered(row, columns, count: lengths.target, by: cresampling_filter) == plain)
        #expect(filtered(row, columns, count: lengths.target, by: cresampling_filter_narrow) == plain, "without AVX2")
    }

    @Test(arguments: cases, Resampling.Filter.allCases)
    func fixedPointColumnsReferOnlyToPixelsOfTheRow(_ lengths: (source: Int, target: Int), filter: Resampling.Filter) {
        for part in [0, 0.3] {
            let (start, length) = (Double(lengths.source) * part, Double(lengths.source) * (1 - part * 2))
            let weights = ResamplingWeights(
                from: lengths.source, start: start, length: length, to: lengths.target, filter: filter)
            let columns = FixedPointColumns(weights)
            #expect(columns.sourceCount >= weights.range.count)
            columns.withTable { table in
                #expect(table.pointee.length % 4 == 0)
                let starts = UnsafeBufferPointer(start: table.pointee.starts, count: lengths.target)
                #expect(starts.allSatisfy { $0 >= 0 && Int($0 + table.pointee.length) <= columns.sourceCount })
            }
        }
    }

    @Test(arguments: [4_000, 10_000, 32_000])
    func roundingErrorsOfFixedPointWeightsDoNotAddUp(source: Int) {
        let weights = ResamplingWeights(from: source, to: 1, filter: .box)
        FixedPointColumns(weights).withTable { table in
            let fixed = UnsafeBufferPointer(start: table.pointee.weights, count: source)
            let unit = table.pointee.scale
            #expect(fixed.allSatisfy { abs(Float($0) * unit - 1 / Float(source)) <= unit })
        }
    }

    @Test(arguments: [1, 2, 7, 8, 9, 16, 31, 100])
    func vectorRowSumsEqualPlainSums(width: Int) {
        let count = width * 4
        let numbers = bytes(count * 5, seed: 3).map { Float($0) * 1.4 - 50 }
        let weights: [Float] = [-0.125, 0.3, 0.7, 0.2, -0.075]
        var (sums, plainSums) = ([Float](repeating: 0, count: count), [Float](repeating: 1, count: count))
        var (pixels, plainPixels) = ([UInt8](repeating: 0, count: count), [UInt8](repeating: 1, count: count))
        numbers.withUnsafeBufferPointer { numbers in
            let rows = (0..<5).map { numbers.baseAddress! + $0 * count }
            rows.withUnsafeBufferPointer { rows in
                weights.withUnsafeBufferPointer { weights in
                    var table = CResamplingRows(
                        rows: rows.baseAddress!, weights: weights.baseAddress!, row_count: 5, count: Int32(count))
                    cresampling_blend(&table, &sums)
                    cresampling_blend_plain(&table, &plainSums)
                    cresampling_blend_opaque(&table, &pixels)
                    cresampling_blend_opaque_plain(&table, &plainPixels)
                }
            }
        }
        #expect(sums == plainSums)
        #expect(pixels == plainPixels)
        if width > 30 { #expect(pixels.contains(0) && pixels.enumerated().contains { $0 % 4 < 3 && $1 == 255 }) }
    }

    @Test(arguments: cases, Resampling.Filter.allCases)
    func resamplingPreservesUniformRowsExactly(_ lengths: (source: Int, target: Int), filter: Resampling.Filter) {
        let weights = ResamplingWeights(from: lengths.source, to: lengths.target, filter: filter)
        let columns = FixedPointColumns(weights)
        // After a short row, there are zeros, to which no weight may apply.
        let zeros = columns.sourceCount - weights.range.count
        let row =
            [UInt8](repeating: 255, count: weights.range.count * 4) + [UInt8](repeating: 0, count: zeros * 4)
        var filtered = [Float](repeating: 0, count: lengths.target * 4)
        columns.filter(row, into: &filtered)
        #expect(filtered.allSatisfy { $0 == 255 })
    }

    @Test(arguments: cases, Resampling.Filter.allCases)
    func fixedPointSumsApproximateTheWeights(_ lengths: (source: Int, target: Int), filter: Resampling.Filter) {
        let weights = ResamplingWeights(from: lengths.source, to: lengths.target, filter: filter)
        let columns = FixedPointColumns(weights)
        let row = row(weights, columns, seed: 11)
        var filtered = [Float](repeating: 0, count: lengths.target * 4)
        columns.filter(row, into: &filtered)
        for column in 0..<lengths.target {
            for channel in 0..<4 {
                var sum = 0.0
                for tap in weights.offsets[column]..<weights.offsets[column + 1] {
                    let source = weights.starts[column] - weights.range.lowerBound + tap - weights.offsets[column]
                    sum += Double(weights.weights[tap]) * Double(row[source * 4 + channel])
                }
                #expect(abs(sum - Double(filtered[column * 4 + channel])) < 0.1)
            }
        }
    }
}
