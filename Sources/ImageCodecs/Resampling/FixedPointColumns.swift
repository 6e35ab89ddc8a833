import CResampling

/// Horizontal weights as 16-bit integers, for several pixels, or samples of one channel, at a time: 16 products in one
/// instruction.
///
/// The weights of each target pixel add up to exactly 1, so a uniform color is preserved. Their rounding errors do not
/// add up, which limits the error to less than a tenth of a byte step.
package struct FixedPointColumns {
    private var starts: [Int32] = []
    private var weights: [Int16] = []
    private let scale: Float
    /// The number of weights per target pixel: a multiple of ``pixelStep`` or ``sampleStep`` and the same for all, so
    /// that loops need no bounds.
    private let length: Int
    /// The number of source pixels in a row, including those with zero weights after a short one.
    package let sourceCount: Int

    /// The number of source pixels that are processed at a time.
    package static let pixelStep = 4
    /// The number of samples of one channel that are processed at a time.
    package static let sampleStep = 16

    /// Creates a table of the weights of `columns`, relative to its first source pixel, for `step` of them at a time.
    package init(_ columns: ResamplingWeights, step: Int = pixelStep) {
        let lowest = columns.range.lowerBound
        let bits = Self.fractionBits(of: columns.weights)
        scale = 1 / Float(1 << bits)
        length = Self.length(taps: columns.maximumTaps, step: step)
        sourceCount = max(length, columns.range.count)
        starts.reserveCapacity(columns.count)
        weights.reserveCapacity(columns.count * length)
        for column in 0..<columns.count {
            let first = columns.starts[column] - lowest
            // Do not exceed the end of the row; start with zeros instead.
            let start = min(first, sourceCount - length)
            starts.append(Int32(start))
            append(
                columns.weights[columns.offsets[column]..<columns.offsets[column + 1]], after: first - start,
                bits: bits)
        }
    }

    private static func length(taps: Int, step: Int) -> Int { (taps + step - 1) / step * step }

    /// Returns the number of bits that keeps every weight within 16 bits and every weighted sum of bytes within 32.
    private static func fractionBits(of weights: [Float]) -> Int {
        let greatest = weights.reduce(0) { max($0, abs($1)) }
        var bits = 14
        while bits < 21, greatest * Float(2 << bits) < Float(Int16.max - 1) { bits += 1 }
        return bits
    }

    /// Appends the weights of one target pixel after some zeros.
    ///
    /// Sums are rounded instead of weights, so that each weight makes up for the rounding errors before it.
    private mutating func append(_ line: ArraySlice<Float>, after zeros: Int, bits: Int) {
        let end = weights.count + length
        weights.append(contentsOf: repeatElement(0, count: zeros))
        let one = 1 << bits
        var exactSum = 0.0
        var sum = 0
        var largest = weights.count
        for weight in line {
            exactSum += Double(weight) * Double(one)
            let rounded = Int(exactSum.rounded()) - sum
            sum += rounded
            weights.append(Int16(clamping: rounded))
            if weights[largest] < rounded { largest = weights.count - 1 }
        }
        weights[largest] = Int16(clamping: Int(weights[largest]) + one - sum)
        weights.append(contentsOf: repeatElement(0, count: end - weights.count))
    }

    /// Returns the maximum size in bytes of a table of weights and of a short row that is extended, with `taps` source
    /// pixels, or samples of one channel, per target pixel.
    package static func workingBytes(taps: Int, target: Int, step: Int = pixelStep) -> Int {
        let length = length(taps: taps, step: step)
        return target * (length * 2 + 4) + length * 4
    }

    /// Filters a row of ``sourceCount`` pixels; `row` receives four floats per target pixel.
    package func filter(_ pixels: UnsafePointer<UInt8>, into row: UnsafeMutablePointer<Float>) {
        unsafe withTable { unsafe cresampling_filter($0, pixels, row) }
    }

    /// Filters a row of ``sourceCount`` samples of one channel; `row` receives one float per target sample.
    ///
    /// The table must have been created for ``sampleStep``.
    func filter(samples: UnsafePointer<UInt8>, into row: UnsafeMutablePointer<Float>) {
        unsafe withTable { unsafe cresampling_filter_plane($0, samples, row) }
    }

    /// Calls `body` with the table in the layout of the C code, valid only during the call.
    func withTable(_ body: (UnsafePointer<CResamplingColumns>) -> Void) {
        unsafe starts.withUnsafeBufferPointer { starts in
            unsafe weights.withUnsafeBufferPointer { weights in
                guard let first = starts.baseAddress, let weights = weights.baseAddress else { return }
                var table = unsafe CResamplingColumns(
                    count: Int32(starts.count), length: Int32(length), starts: first, weights: weights, scale: scale)
                unsafe body(&table)
            }
        }
    }
}
