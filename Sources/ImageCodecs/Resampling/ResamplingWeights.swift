/// The weights of the source samples for each sample of a shorter or longer line, with aligned centers.
///
/// If the line gets shorter, the filter is widened by the ratio of the lengths, so that it covers every source
/// sample. Samples outside the line are assumed to equal the outermost one.
package struct ResamplingWeights {
    /// The first source sample of each target sample, never decreasing.
    package private(set) var starts: [Int] = []
    /// The start of the weights of each target sample in `weights`; one more than there are samples.
    package private(set) var offsets: [Int] = [0]
    /// The weights of all target samples in sequence; those of each add up to 1.
    package private(set) var weights: [Float] = []

    /// Creates weights for `target` samples from `source` samples, both at least 1, or from the part given by `start`
    /// and `length`.
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
            let center = start + (Double(sample) + 0.5) * ratio
            // Strictly within reach: at its ends the filter is zero.
            let first = Int((center - reach - 0.5).rounded(.down)) + 1
            let last = max(first, Int((center + reach - 0.5).rounded(.up)) - 1)
            let start = min(max(first, 0), source - 1)
            let end = min(max(last, 0), source - 1)
            line.removeAll(keepingCapacity: true)
            line.append(contentsOf: repeatElement(0, count: end - start + 1))
            var sum = 0.0
            for tap in first...last {
                let weight = filter.weight(distance: Double(tap) + 0.5 - center, ratio: ratio)
                line[min(max(tap, start), end) - start] += weight
                sum += weight
            }
            starts.append(start)
            for weight in line { weights.append(Float(weight / sum)) }
            offsets.append(weights.count)
        }
    }

    /// Creates weights for `count` target samples at every `step`-th source sample, from `first`, of a line of `source`
    /// samples.
    ///
    /// `kernel` has an odd number of weights, which add up to 1, for the source samples around each target sample, which
    /// can be outside the line.
    package init(from source: Int, first: Int, step: Int, count: Int, kernel: [Float]) {
        starts.reserveCapacity(count)
        offsets.reserveCapacity(count + 1)
        for sample in 0..<count {
            let low = first + sample * step - kernel.count / 2
            let range = min(max(low, 0), source - 1)...min(max(low + kernel.count - 1, 0), source - 1)
            let offset = weights.count
            starts.append(range.lowerBound)
            weights.append(contentsOf: repeatElement(0, count: range.count))
            for (tap, weight) in kernel.enumerated() {
                weights[offset + min(max(low + tap, range.lowerBound), range.upperBound) - range.lowerBound] += weight
            }
            offsets.append(weights.count)
        }
    }

    /// Returns the maximum size of such a table in bytes, and the maximum number of source samples per target sample.
    static func cost(
        from source: Int, length: Double, to target: Int, filter: Resampling.Filter
    ) -> (bytes: Int, taps: Int) {
        let reach = filter.reach(ratio: length / Double(target))
        let taps = min(source, Int((2 * reach).rounded(.up)) + 1)
        // Doubled because arrays grow by doubling.
        return (target * (taps * 4 * 2 + 16), taps)
    }

    /// The number of target samples.
    package var count: Int { starts.count }

    /// The source samples that are used.
    var range: Range<Int> { starts[0]..<end(of: count - 1) + 1 }

    /// Returns the last source sample of target sample `index`.
    package func end(of index: Int) -> Int {
        starts[index] + offsets[index + 1] - offsets[index] - 1
    }

    /// The maximum number of source samples per target sample.
    var maximumTaps: Int {
        (0..<count).reduce(0) { max($0, offsets[$1 + 1] - offsets[$1]) }
    }
}

extension ResamplingWeights {
    /// Returns the target samples that depend on source samples of `range`; can be empty.
    func samples(influencedBy range: Range<Int>) -> Range<Int> {
        // Neither starts nor ends ever decrease.
        let first = firstSample { end(of: $0) >= range.lowerBound }
        let past = firstSample { starts[$0] >= range.upperBound }
        return first..<max(first, past)
    }

    /// Returns the source samples that the target samples of `samples`, which is not empty, depend on.
    func range(of samples: Range<Int>) -> Range<Int> {
        starts[samples.lowerBound]..<end(of: samples.upperBound - 1) + 1
    }

    /// Returns the weights of the target samples of `samples`, with source samples relative to the first one used.
    func part(_ samples: Range<Int>) -> ResamplingWeights {
        var part = self
        let (first, lowest) = (offsets[samples.lowerBound], starts[samples.lowerBound])
        part.starts = starts[samples].map { $0 - lowest }
        part.offsets = offsets[samples.lowerBound...samples.upperBound].map { $0 - first }
        part.weights = Array(weights[first..<offsets[samples.upperBound]])
        return part
    }

    /// Returns the first target sample that satisfies `condition`, as do all later ones.
    private func firstSample(where condition: (Int) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
