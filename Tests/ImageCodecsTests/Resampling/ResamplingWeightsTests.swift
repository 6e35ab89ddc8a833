import Testing

@testable import ImageCodecs

struct ResamplingWeightsTests {
    @Test func tablesStayInsideTheSourceAndNeverStepBack() {
        for source in Array(1...80) + [1000, 1985, 65_535] {
            for target in Set([1, 2, 3, source / 3, source / 2, source - 1, source]) where (1...source).contains(target)
            {
                let table = ResamplingWeights(from: source, to: target)
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
                #expect(table.end(of: target - 1) == source - 1)
            }
        }
    }

    @Test func weightsOfEachSampleAddUpToOne() {
        let table = ResamplingWeights(from: 100, to: 37)
        for sample in 0..<37 {
            let sum = table.weights[table.offsets[sample]..<table.offsets[sample + 1]].reduce(0, +)
            #expect(abs(sum - 1) < 1e-5)
        }
    }

    @Test func fewRowsAreOpenAtOnceWhateverTheRatio() {
        for (source, target) in [(100, 100), (100, 99), (100, 50), (3000, 7), (65_535, 1000), (7, 2)] {
            #expect(ResamplingWeights(from: source, to: target).greatestOverlap <= 8)
        }
    }
}
