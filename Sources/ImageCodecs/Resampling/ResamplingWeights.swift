/// Which source samples make each sample of another line, shorter or longer, and with what weight: centers aligned.
///
/// The filter is stretched by the ratio of the lengths where that makes it wider, so that it sees every source sample.
/// Samples it would need from outside the line are taken to equal the outermost one.
struct ResamplingWeights {
    /// First source sample of each target sample, never decreasing.
    private(set) var starts: [Int] = []
    /// Where the weights of each target sample begin in `weights`; one more than there are samples.
    private(set) var offsets: [Int] = [0]
    /// All weights, one target sample after the other; those of each add up to 1.
    private(set) var weights: [Float] = []

    /// For `target` samples out of `source`, both at least 1, or out of the part of them that `start` and `length` say.
    init(
        from source: Int, start: Double = 0, length: Double? = nil, to target: Int,
        filter: Resampling.Filter = .lanczos3
    ) {
        let ratio = (length ?? Double(source)) / Double(target)
        let reach = filter.reach(ratio: ratio)
        starts.reserveCapacity(target)
        offsets.reserveCapacity(target + 1)
        var line: [Double] = []
        for sample in 0..<target {
            let centre = start + (Double(sample) + 0.5) * ratio
            // Strictly within reach: at its ends the filter is zero.
            let first = Int((centre - reach - 0.5).rounded(.down)) + 1
            let last = max(first, Int((centre + reach - 0.5).rounded(.up)) - 1)
            let start = min(max(first, 0), source - 1)
            let end = min(max(last, 0), source - 1)
            line.removeAll(keepingCapacity: true)
            line.append(contentsOf: repeatElement(0, count: end - start + 1))
            var sum = 0.0
            for tap in first...last {
                let weight = filter.weight(distance: Double(tap) + 0.5 - centre, ratio: ratio)
                line[min(max(tap, start), end) - start] += weight
                sum += weight
            }
            starts.append(start)
            weights.append(contentsOf: line.lazy.map { Float($0 / sum) })
            offsets.append(weights.count)
        }
    }

    /// The maximum number of bytes of such a table, and the most source samples that go into one target sample.
    static func cost(
        from source: Int, length: Double, to target: Int, filter: Resampling.Filter
    ) -> (bytes: Int, taps: Int) {
        let reach = filter.reach(ratio: length / Double(target))
        let taps = min(source, Int((2 * reach).rounded(.up)) + 1)
        // Doubled, because arrays grow by doubling.
        return (target * (taps * 4 * 2 + 16), taps)
    }

    /// Number of target samples.
    var count: Int { starts.count }

    /// The source samples that are needed at all.
    var range: Range<Int> { starts[0]..<end(of: count - 1) + 1 }

    /// Last source sample of target sample `index`.
    func end(of index: Int) -> Int {
        starts[index] + offsets[index + 1] - offsets[index] - 1
    }

    /// Most source samples that go into one target sample.
    var mostTaps: Int {
        (0..<count).reduce(0) { max($0, offsets[$1 + 1] - offsets[$1]) }
    }
}

extension ResamplingWeights {
    /// The target samples that source samples of `range` go into; empty if they go into none.
    func samples(influencedBy range: Range<Int>) -> Range<Int> {
        // Neither where they start nor where they end ever decreases.
        let first = firstSample { end(of: $0) >= range.lowerBound }
        let past = firstSample { starts[$0] >= range.upperBound }
        return first..<max(first, past)
    }

    /// The source samples that go into the target samples of `samples`, which is not empty.
    func range(of samples: Range<Int>) -> Range<Int> {
        starts[samples.lowerBound]..<end(of: samples.upperBound - 1) + 1
    }

    /// The weights of the target samples of `samples` alone, source samples being counted from the first they need.
    func part(_ samples: Range<Int>) -> ResamplingWeights {
        var part = self
        let (first, lowest) = (offsets[samples.lowerBound], starts[samples.lowerBound])
        part.starts = starts[samples].map { $0 - lowest }
        part.offsets = offsets[samples.lowerBound...samples.upperBound].map { $0 - first }
        part.weights = Array(weights[first..<offsets[samples.upperBound]])
        return part
    }

    /// The first target sample of which `condition` holds, as it does of all behind that.
    private func firstSample(where condition: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
