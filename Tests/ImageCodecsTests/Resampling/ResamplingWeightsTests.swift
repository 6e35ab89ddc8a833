import Testing

@testable import ImageCodecs

struct ResamplingWeightsTests {
    @Test(arguments: Resampling.Filter.allCases)
    func resamplingWeightsStayInsideTheSourceInOrder(filter: Resampling.Filter) {
        for source in [1, 2, 3, 4, 5, 7, 16, 63, 64, 80, 1000, 1985] {
            for target in Set([1, 2, 3, source / 3, source / 2, source - 1, source, source + 1, source * 5])
            where target > 0 {
                check(source, to: target, filter)
                check(source, start: 0.3, length: Double(source) / 2, to: target, filter)
            }
        }
        check(65_535, to: 300, filter)
    }

    private func check(
        _ source: Int, start: Double = 0, length: Double? = nil, to target: Int, _ filter: Resampling.Filter
    ) {
        let table = ResamplingWeights(from: source, start: start, length: length, to: target, filter: filter)
        #expect(table.count == target)
        #expect(table.offsets.last == table.weights.count)
        var isSound = true
        for sample in 0..<target {
            isSound = isSound && table.starts[sample] >= 0 && table.end(of: sample) < source
            isSound = isSound && table.starts[sample] <= table.end(of: sample)
            guard sample > 0 else { continue }
            isSound = isSound && table.starts[sample] >= table.starts[sample - 1]
            isSound = isSound && table.end(of: sample) >= table.end(of: sample - 1)
        }
        #expect(isSound, "\(source) to \(target)")
        if length == nil { #expect(table.range == 0..<source) }
        let cost = ResamplingWeights.cost(
            from: source, length: length ?? Double(source), to: target, filter: filter)
        #expect(table.maximumTaps <= cost.taps)
        #expect((table.weights.capacity + target * 4) * 4 <= cost.bytes + 4096)
    }

    @Test func resamplingWeightsOfEachSampleAddUpToOne() {
        let table = ResamplingWeights(from: 100, to: 37)
        for sample in 0..<37 {
            let sum = table.weights[table.offsets[sample]..<table.offsets[sample + 1]].reduce(0, +)
            #expect(abs(sum - 1) < 1e-5)
        }
    }

    @Test func resamplingTapsAreAtMostSixTimesTheRatio() {
        for (source, target) in [(100, 100), (100, 99), (100, 50), (3000, 7), (65_535, 1000), (7, 2)] {
            #expect(ResamplingWeights(from: source, to: target).maximumTaps <= 6 * source / target + 6)
        }
    }
}
