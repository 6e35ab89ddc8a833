import CResampling

/// Weights along a row as 16-bit whole numbers, for pixels taken two at a time: eight products in one instruction.
///
/// The weights of each target pixel add up to exactly 1, so a plain color stays the same. Each has 14 significant bits
/// or more compared with the largest, which puts a result off by less than a tenth of a byte's step.
struct FixedPointColumns {
    private var starts: [Int32] = []
    private var weights: [Int16] = []
    private let scale: Float
    /// Pairs that go into each target pixel: an even number, the same for all, so that loops need not look for their end.
    private let pairsPerColumn: Int
    /// Pairs of source pixels in a row, those that only have weights of zero included.
    let pairCount: Int

    /// The same weights as `columns` has, counted from its first source pixel.
    init(_ columns: ResamplingWeights) {
        let lowest = columns.range.lowerBound
        let bits = Self.fractionBits(of: columns.weights)
        scale = 1 / Float(1 << bits)
        var longest = 0
        for column in 0..<columns.count {
            let (start, end) = (columns.starts[column] - lowest, columns.end(of: column) - lowest)
            longest = max(longest, end / 2 - start / 2 + 1)
        }
        let length = (longest + 1) / 2 * 2
        pairsPerColumn = length
        pairCount = max(length, (columns.range.count + 1) / 2)
        starts.reserveCapacity(columns.count)
        weights.reserveCapacity(columns.count * length * 2)
        for column in 0..<columns.count {
            let first = columns.starts[column] - lowest
            // Not beyond the end of the row; zeros come first then.
            let start = min(first / 2, pairCount - length)
            starts.append(Int32(start))
            append(
                columns.weights[columns.offsets[column]..<columns.offsets[column + 1]], after: first - start * 2,
                bits: bits)
        }
    }

    /// As many as keep every weight within 16 bits and every sum of weighted bytes within 32.
    private static func fractionBits(of weights: [Float]) -> Int {
        let greatest = weights.reduce(0) { max($0, abs($1)) }
        var bits = 14
        while bits < 21, greatest * Float(2 << bits) < Float(Int16.max - 1) { bits += 1 }
        return bits
    }

    /// Appends the weights of one target pixel behind some zeros, what rounding leaves over being given to the largest.
    private mutating func append(_ line: ArraySlice<Float>, after zeros: Int, bits: Int) {
        let end = weights.count + pairsPerColumn * 2
        weights.append(contentsOf: repeatElement(0, count: zeros))
        let one = 1 << bits
        var sum = 0
        var largest = weights.count
        for weight in line {
            let rounded = Int((weight * Float(one)).rounded())
            sum += rounded
            weights.append(Int16(rounded))
            if weights[largest] < rounded { largest = weights.count - 1 }
        }
        weights[largest] = Int16(clamping: Int(weights[largest]) + one - sum)
        weights.append(contentsOf: repeatElement(0, count: end - weights.count))
    }

    /// The maximum number of bytes of such a table and of a row of pairs, where `taps` source pixels go into a target pixel.
    static func workingBytes(taps: Int, target: Int, source: Int) -> Int {
        let length = taps / 2 + 3
        return target * (length * 4 + 4) + max(length, source / 2 + 1) * 16
    }

    /// Filters a row of pairs; `row` gets four floats a pixel.
    func filter(_ pairs: UnsafePointer<Int16>, into row: UnsafeMutablePointer<Float>) {
        unsafe withTable { unsafe cresampling_filter($0, pairs, row) }
    }

    /// The table as the loops in C take it; good for the call only.
    func withTable(_ body: (UnsafePointer<CResamplingColumns>) -> Void) {
        unsafe starts.withUnsafeBufferPointer { starts in
            unsafe weights.withUnsafeBufferPointer { weights in
                guard let first = starts.baseAddress, let weights = weights.baseAddress else { return }
                var table = unsafe CResamplingColumns(
                    count: Int32(starts.count), pairs: Int32(pairsPerColumn), starts: first, weights: weights,
                    scale: scale)
                unsafe body(&table)
            }
        }
    }
}
