import CResampling

/// Weights along a row as 16-bit whole numbers, for pixels taken two at a time: eight products in one instruction.
///
/// The weights of each target pixel add up to exactly 1, so a plain colour stays the same. Each has 15 significant bits
/// compared with the largest, which puts a result off by less than a tenth of a byte's step.
struct FixedPointColumns {
    private var starts: [Int32] = []
    private var offsets: [Int32] = [0]
    private var weights: [Int16] = []
    private let scale: Float
    /// Number of pairs of source pixels in a row.
    let pairCount: Int

    /// The same weights as `columns` has, counted from its first source pixel.
    init(_ columns: ResamplingWeights) {
        let range = columns.range
        pairCount = (range.count + 1) / 2
        let bits = Self.fractionBits(of: columns.weights)
        scale = 1 / Float(1 << bits)
        starts.reserveCapacity(columns.count)
        offsets.reserveCapacity(columns.count + 1)
        weights.reserveCapacity(columns.weights.count + 2 * columns.count)
        for column in 0..<columns.count {
            let start = columns.starts[column] - range.lowerBound
            let first = weights.count
            starts.append(Int32(start / 2))
            if start % 2 == 1 { weights.append(0) }
            append(columns.weights[columns.offsets[column]..<columns.offsets[column + 1]], bits: bits)
            if weights.count % 2 == 1 { weights.append(0) }
            offsets.append(offsets[column] + Int32((weights.count - first) / 2))
        }
    }

    /// As many as keep every weight within 16 bits and every sum of weighted bytes within 32.
    private static func fractionBits(of weights: [Float]) -> Int {
        let greatest = weights.reduce(0) { max($0, abs($1)) }
        var bits = 14
        while bits < 21, greatest * Float(2 << bits) < Float(Int16.max - 1) { bits += 1 }
        return bits
    }

    /// Appends the weights of one pixel, what rounding leaves over being given to the largest.
    private mutating func append(_ line: ArraySlice<Float>, bits: Int) {
        let one = 1 << bits
        let first = weights.count
        var sum = 0
        var largest = first
        for weight in line {
            let rounded = Int((weight * Float(one)).rounded())
            sum += rounded
            weights.append(Int16(rounded))
            if weights[largest] < rounded { largest = weights.count - 1 }
        }
        weights[largest] = Int16(clamping: Int(weights[largest]) + one - sum)
    }

    /// Filters a row of pairs; `row` gets four floats a pixel.
    func filter(_ pairs: UnsafePointer<Int16>, into row: UnsafeMutablePointer<Float>) {
        unsafe withTable { unsafe cresampling_filter($0, pairs, row) }
    }

    /// The table as the loops in C take it; good for the call only.
    func withTable(_ body: (UnsafePointer<CResamplingColumns>) -> Void) {
        unsafe starts.withUnsafeBufferPointer { starts in
            unsafe offsets.withUnsafeBufferPointer { offsets in
                unsafe weights.withUnsafeBufferPointer { weights in
                    guard let starts = starts.baseAddress, let offsets = offsets.baseAddress,
                        let weights = weights.baseAddress
                    else { return }
                    var table = unsafe CResamplingColumns(
                        count: Int32(self.starts.count), starts: starts, offsets: offsets, weights: weights,
                        scale: scale)
                    unsafe body(&table)
                }
            }
        }
    }
}
