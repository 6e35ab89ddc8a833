import CResampling

/// The arithmetic of ``BandResampler``: rows of four floats a pixel, made of bytes in fixed point where that is exact
/// enough, which takes a third of the time.
///
/// Unsafe for speed: bounds checks in the innermost loop double its time. What keeps it in bounds: `columns` names only
/// source columns of its range (a test checks the tables), the buffers are allocated here and sized by the same
/// numbers, and each method checks the spans it is given.
@safe
struct ResamplingKernel: ~Copyable {
    private typealias Pixel = SIMD4<Float>

    private let columns: ResamplingWeights
    /// The same for opaque pixels whose numbers are averaged as they are.
    private let fixedPoint: FixedPointColumns?
    private let sourceColumns: Range<Int>
    private let accumulatorCount: Int
    private let hasAlpha: Bool
    /// Nil where the numbers are averaged as they are.
    private let curve: SRGBCurve?
    /// The part of the source row that is needed, as pairs or as floats, then the same filtered to the target width,
    /// then the accumulators.
    private let pairs: UnsafeMutablePointer<Int16>
    private let wide: UnsafeMutablePointer<Pixel>
    private let narrow: UnsafeMutablePointer<Pixel>
    private let accumulators: UnsafeMutablePointer<Pixel>

    init(columns: ResamplingWeights, accumulators count: Int, hasAlpha: Bool, usesLinearLight: Bool) {
        self.columns = columns
        self.hasAlpha = hasAlpha
        sourceColumns = columns.range
        curve = usesLinearLight ? .shared : nil
        fixedPoint = hasAlpha || usesLinearLight ? nil : FixedPointColumns(columns)
        accumulatorCount = count
        let width = columns.count
        let pairedCount = (fixedPoint?.pairCount ?? 0) * 8
        unsafe pairs = .allocate(capacity: pairedCount)
        unsafe pairs.initialize(repeating: 0, count: pairedCount)
        let wideCount = fixedPoint == nil ? sourceColumns.count : 0
        unsafe wide = .allocate(capacity: wideCount)
        unsafe wide.initialize(repeating: .zero, count: wideCount)
        unsafe narrow = .allocate(capacity: width)
        unsafe narrow.initialize(repeating: .zero, count: width)
        unsafe accumulators = .allocate(capacity: width * count)
        unsafe accumulators.initialize(repeating: .zero, count: width * count)
    }

    deinit {
        unsafe pairs.deallocate()
        unsafe wide.deallocate()
        unsafe narrow.deallocate()
        unsafe accumulators.deallocate()
    }

    /// Takes a source row and filters it along the row.
    func filter(_ row: Span<UInt8>) {
        precondition(row.count >= sourceColumns.upperBound * 4)
        let row = row.extracting(sourceColumns.lowerBound * 4..<sourceColumns.upperBound * 4)
        guard let fixedPoint else {
            filterFloats(row)
            return
        }
        unsafe row.withUnsafeBufferPointer { bytes in
            guard let bytes = bytes.baseAddress else { return }
            unsafe cresampling_pair(bytes, Int32(sourceColumns.count), pairs)
        }
        unsafe narrow.withMemoryRebound(to: Float.self, capacity: columns.count * 4) {
            unsafe fixedPoint.filter(pairs, into: $0)
        }
    }

    private func filterFloats(_ row: Span<UInt8>) {
        unsafe row.withUnsafeBufferPointer { bytes in
            guard let curve else {
                for x in 0..<sourceColumns.count {
                    let byte = x * 4
                    let pixel = unsafe Pixel(
                        Float(bytes[byte]), Float(bytes[byte + 1]), Float(bytes[byte + 2]), Float(bytes[byte + 3]))
                    unsafe wide[x] = hasAlpha ? premultiplied(pixel) : pixel
                }
                return
            }
            unsafe curve.light.withUnsafeBufferPointer { light in
                for x in 0..<sourceColumns.count {
                    let byte = x * 4
                    let pixel = unsafe Pixel(
                        light[Int(bytes[byte])], light[Int(bytes[byte + 1])], light[Int(bytes[byte + 2])],
                        Float(bytes[byte + 3]))
                    unsafe wide[x] = hasAlpha ? premultiplied(pixel) : pixel
                }
            }
        }
        unsafe columns.weights.withUnsafeBufferPointer { weights in
            var offset = 0
            for x in 0..<columns.count {
                let end = columns.offsets[x + 1]
                var source = unsafe wide + (columns.starts[x] - sourceColumns.lowerBound)
                // Two sums, so that an addition need not wait for the one before.
                var even = Pixel.zero
                var odd = Pixel.zero
                while offset + 1 < end {
                    unsafe even += source[0] * weights[offset]
                    unsafe odd += source[1] * weights[offset + 1]
                    unsafe source += 2
                    offset += 2
                }
                if offset < end {
                    unsafe even += source[0] * weights[offset]
                    offset += 1
                }
                unsafe narrow[x] = even + odd
            }
        }
    }

    /// Begins target row `row`.
    func clear(_ row: Int) {
        unsafe accumulator(row).update(repeating: .zero, count: columns.count)
    }

    /// Adds the source row filtered last to target row `row`.
    func add(to row: Int, weight: Float) {
        let count = columns.count * 4
        unsafe narrow.withMemoryRebound(to: Float.self, capacity: count) { narrow in
            unsafe accumulator(row).withMemoryRebound(to: Float.self, capacity: count) { sums in
                unsafe cresampling_add(narrow, weight, sums, Int32(count))
            }
        }
    }

    /// Writes the finished target row `row`.
    func finish(_ row: Int, into output: inout [UInt8]) {
        precondition(output.count == columns.count * 4)
        let sums = unsafe accumulator(row)
        unsafe output.withUnsafeMutableBufferPointer { bytes in
            if fixedPoint != nil, let bytes = bytes.baseAddress {
                unsafe sums.withMemoryRebound(to: Float.self, capacity: columns.count * 4) {
                    unsafe cresampling_round($0, bytes, Int32(columns.count))
                }
                return
            }
            for x in 0..<columns.count {
                var pixel = unsafe hasAlpha ? straight(sums[x]) : sums[x]
                if let curve { pixel = curve.bytes(of: pixel) }
                let byte = x * 4
                unsafe bytes[byte] = rounded(pixel.x)
                unsafe bytes[byte + 1] = rounded(pixel.y)
                unsafe bytes[byte + 2] = rounded(pixel.z)
                unsafe bytes[byte + 3] = hasAlpha ? rounded(pixel.w) : 255
            }
        }
    }

    private func accumulator(_ row: Int) -> UnsafeMutablePointer<Pixel> {
        unsafe accumulators + row % accumulatorCount * columns.count
    }
}

/// Colours times alpha; alpha stays 0 to 255.
private func premultiplied(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
    let alpha = pixel.w
    var result = pixel * (alpha / 255)
    result.w = alpha
    return result
}

/// The inverse, with no colours where alpha rounds to nothing.
private func straight(_ pixel: SIMD4<Float>) -> SIMD4<Float> {
    let alpha = pixel.w
    guard alpha >= 0.5 else { return .zero }
    var result = pixel * (255 / min(alpha, 255))
    result.w = alpha
    return result
}

/// The nearest byte.
///
/// Finite weights and bytes give finite values, so the conversion cannot trap.
private func rounded(_ value: Float) -> UInt8 {
    UInt8(max(0, min(255, value)) + 0.5)
}
