#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Which source samples make each sample of a shorter line, and with what weight: Lanczos-3, centres aligned.
///
/// The filter is stretched by the ratio of the lengths, so that it sees every source sample. Samples it would need from
/// outside the line are taken to equal the outermost one.
struct ResamplingWeights {
    /// First source sample of each target sample, never decreasing.
    private(set) var starts: [Int] = []
    /// Where the weights of each target sample begin in `weights`; one more than there are samples.
    private(set) var offsets: [Int] = [0]
    /// All weights, one target sample after the other; those of each add up to 1.
    private(set) var weights: [Float] = []

    /// For `target` samples out of `source`; both at least 1, `target` at most `source`.
    init(from source: Int, to target: Int) {
        let ratio = Double(source) / Double(target)
        let support = Self.lobes * ratio
        starts.reserveCapacity(target)
        offsets.reserveCapacity(target + 1)
        var line: [Double] = []
        for sample in 0..<target {
            let centre = (Double(sample) + 0.5) * ratio
            // Strictly inside the support: at its ends the filter is zero.
            let first = Int((centre - support - 0.5).rounded(.down)) + 1
            let last = Int((centre + support - 0.5).rounded(.up)) - 1
            let start = min(max(first, 0), source - 1)
            let end = min(max(last, 0), source - 1)
            line.removeAll(keepingCapacity: true)
            line.append(contentsOf: repeatElement(0, count: end - start + 1))
            var sum = 0.0
            for tap in first...last {
                let weight = Self.lanczos((Double(tap) + 0.5 - centre) / ratio)
                line[min(max(tap, start), end) - start] += weight
                sum += weight
            }
            starts.append(start)
            weights.append(contentsOf: line.lazy.map { Float($0 / sum) })
            offsets.append(weights.count)
        }
    }

    /// Number of target samples.
    var count: Int { starts.count }

    /// Last source sample of target sample `index`.
    func end(of index: Int) -> Int {
        starts[index] + offsets[index + 1] - offsets[index] - 1
    }

    /// Most target samples that one source sample goes into.
    var greatestOverlap: Int {
        var greatest = 0
        var oldest = 0
        for newest in starts.indices {
            while end(of: oldest) < starts[newest] { oldest += 1 }
            greatest = max(greatest, newest - oldest + 1)
        }
        return greatest
    }

    /// How many target samples the filter reaches to either side.
    static let lobes = 3.0

    private static func lanczos(_ x: Double) -> Double {
        if abs(x) < 1e-9 { return 1 }
        if abs(x) >= lobes { return 0 }
        let angle = Double.pi * x
        return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)
    }
}
