import CResampling

/// Horizontal weights as 16-bit integers, for two pixels at a time: eight products in one instruction.
///
/// The weights of each target pixel add up to exactly 1, so a uniform color is preserved. Each has at least 14
/// significant bits relative to the largest, which limits the error to less than a tenth of a byte step.
struct FixedPointColumns {
    private var starts: [Int32] = []
    private var weights: [Int16] = []
    private let scale: Float
    /// The number of pairs per target pixel: even and the same for all, so that loops need no bounds.
    private let pairsPerColumn: Int
    /// The number of pairs of source pixels in a row, including those with zero weights.
    let pairCount: Int

    /// Creates a table of the weights of `columns`, relative to its first source pixel.
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
            // Do not exceed the end of the row; start with zeros instead.
            let start = min(first / 2, pairCount - length)
            starts.append(Int32(start))
            append(
                columns.weights[columns.offsets[column]..<columns.offsets[column + 1]], after: first - start * 2,
                bits: bits)
        }
    }

    /// Returns the number of bits that keeps every weight within 16 bits and every weighted sum of bytes within 32.
    private static func fractionBits(of weights: [Float]) -> Int {
        let greatest = weights.reduce(0) { max($0, abs($1)) }
        var bits = 14
        while bits < 21, greatest * Float(2 << bits) < Float(Int16.max - 1) { bits += 1 }
        return bits
    }

    /// Appends the weights of one target pixel after some zeros; the rounding error is added to the largest weight.
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

    /// Returns the maximum size in bytes of a table of weights and a row of pairs, with `taps` source pixels per target
    /// pixel.
    static func workingBytes(taps: Int, target: Int, source: Int) -> Int {
        let length = taps / 2 + 3
        return target * (length * 4 + 4) + max(length, source / 2 + 1) * 16
    }

    /// Filters a row of pairs; `row` receives four floats per pixel.
    func filter(_ pairs: UnsafePointer<Int16>, into row: UnsafeMutablePointer<Float>) {
        unsafe withTable { unsafe cresampling_filter($0, pairs, row) }
    }

    /// Calls `body` with the table in the layout of the C code, valid only during the call.
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
