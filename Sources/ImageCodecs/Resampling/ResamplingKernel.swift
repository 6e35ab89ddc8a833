import CResampling

/// The arithmetic of ``BandResampler``: filters source rows to the target width, four floats per pixel, and blends
/// them into target rows.
///
/// Opaque rows are filtered in fixed point, which is faster without loss of precision.
///
/// Unsafe for speed: bounds checks in the innermost loop double its time. Memory safety: `columns` refers only to
/// source columns of its range, and `fixedPoint` only to its number of source pixels (both verified by tests), the
/// buffers are allocated here with the same sizes, and each method checks the spans it receives.
@safe
struct ResamplingKernel: ~Copyable {
    private typealias Pixel = SIMD4<Float>

    private let columns: ResamplingWeights
    /// The fixed-point weights for opaque pixels whose encoded values are averaged.
    private let fixedPoint: FixedPointColumns?
    private let sourceColumns: Range<Int>
    private let keptRows: Int
    private let hasAlpha: Bool
    /// A Boolean value that indicates whether samples have 16 bits.
    private let is16Bit: Bool
    /// The maximum value of a sample.
    private let most: Float
    /// The transfer function; `nil` if encoded values are averaged.
    private let curve: SRGBCurve?
    /// The required part of the source row as floats, unless it is filtered in fixed point.
    private let wide: UnsafeMutablePointer<Pixel>
    /// Memory for the required part of a row, followed by zeros; empty unless that has fewer pixels than the filter.
    private let extended: UnsafeMutablePointer<UInt8>
    /// The latest rows, filtered to the target width; row n is stored at n % keptRows.
    private let narrow: UnsafeMutablePointer<Pixel>
    /// The rows that contribute to a target row.
    private let rows: UnsafeMutablePointer<UnsafePointer<Float>>
    /// A target row before rounding.
    private let sums: UnsafeMutablePointer<Pixel>

    /// Creates a kernel whose target rows depend on at most the latest `keptRows` source rows.
    init(columns: ResamplingWeights, keptRows: Int, hasAlpha: Bool, usesLinearLight: Bool, is16Bit: Bool) {
        self.columns = columns
        self.hasAlpha = hasAlpha
        self.is16Bit = is16Bit
        most = is16Bit ? 65_535 : 255
        self.keptRows = keptRows
        sourceColumns = columns.range
        curve = usesLinearLight ? .shared : nil
        fixedPoint = hasAlpha || usesLinearLight || is16Bit ? nil : FixedPointColumns(columns)
        let width = columns.count
        let extendedCount = fixedPoint?.sourceCount ?? 0
        unsafe wide = Self.zeros(fixedPoint == nil ? sourceColumns.count : 0, .zero)
        unsafe extended = Self.zeros(extendedCount > sourceColumns.count ? extendedCount * 4 : 0, 0)
        unsafe narrow = Self.zeros(width * keptRows, .zero)
        unsafe rows = .allocate(capacity: keptRows)
        unsafe sums = Self.zeros(fixedPoint == nil ? width : 0, .zero)
    }

    private static func zeros<Element: BitwiseCopyable>(_ count: Int, _ zero: Element) -> UnsafeMutablePointer<Element>
    {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: count)
        unsafe memory.initialize(repeating: zero, count: count)
        return unsafe memory
    }

    deinit {
        unsafe wide.deallocate()
        unsafe extended.deallocate()
        unsafe narrow.deallocate()
        unsafe rows.deallocate()
        unsafe sums.deallocate()
    }

    /// Filters source row `index` horizontally.
    func filter(_ row: Span<UInt8>, index: Int) {
        let pixelBytes = is16Bit ? 8 : 4
        precondition(row.count >= sourceColumns.upperBound * pixelBytes)
        let row = row.extracting(sourceColumns.lowerBound * pixelBytes..<sourceColumns.upperBound * pixelBytes)
        let result = unsafe narrow + index % keptRows * columns.count
        guard let fixedPoint else {
            widen(row)
            unsafe filterWide(into: result)
            return
        }
        unsafe row.withUnsafeBufferPointer { bytes in
            guard var pixels = bytes.baseAddress else { return }
            if fixedPoint.sourceCount > sourceColumns.count {
                unsafe extended.update(from: pixels, count: bytes.count)
                unsafe pixels = UnsafePointer(extended)
            }
            unsafe result.withMemoryRebound(to: Float.self, capacity: columns.count * 4) {
                unsafe fixedPoint.filter(pixels, into: $0)
            }
        }
    }

    private func widen(_ row: Span<UInt8>) {
        unsafe row.withUnsafeBytes { bytes in
            for x in 0..<sourceColumns.count {
                var pixel: Pixel
                if is16Bit {
                    func sample(_ channel: Int) -> Float {
                        Float(unsafe bytes.loadUnaligned(fromByteOffset: x * 8 + channel * 2, as: UInt16.self))
                    }
                    pixel = Pixel(sample(0), sample(1), sample(2), sample(3))
                    if curve != nil { pixel = SRGBCurve.linearValues(of: pixel, most: most) }
                } else {
                    let byte = x * 4
                    pixel = unsafe Pixel(
                        Float(bytes[byte]), Float(bytes[byte + 1]), Float(bytes[byte + 2]), Float(bytes[byte + 3]))
                    if let curve {
                        pixel.x = curve.light[Int(pixel.x)]
                        pixel.y = curve.light[Int(pixel.y)]
                        pixel.z = curve.light[Int(pixel.z)]
                    }
                }
                unsafe wide[x] = hasAlpha ? premultiplied(pixel, most) : pixel
            }
        }
    }

    private func filterWide(into result: UnsafeMutablePointer<Pixel>) {
        unsafe columns.weights.withUnsafeBufferPointer { weights in
            var offset = 0
            for x in 0..<columns.count {
                let end = columns.offsets[x + 1]
                var source = unsafe wide + (columns.starts[x] - sourceColumns.lowerBound)
                // Two sums, so that additions do not wait for each other.
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
                unsafe result[x] = even + odd
            }
        }
    }

    /// Writes the target row made of the source rows starting at `start`, one for each of `weights`.
    func blend(from start: Int, weights: ArraySlice<Float>, into output: inout [UInt8]) {
        precondition(output.count == columns.count * (is16Bit ? 8 : 4) && weights.count <= keptRows)
        let count = columns.count * 4
        for index in 0..<weights.count {
            unsafe rows[index] = UnsafeRawPointer(narrow + (start + index) % keptRows * columns.count)
                .assumingMemoryBound(to: Float.self)
        }
        unsafe weights.withUnsafeBufferPointer { weights in
            guard let factors = weights.baseAddress else { return }
            var blend = unsafe CResamplingRows(
                rows: rows, weights: factors, row_count: Int32(weights.count), count: Int32(count))
            unsafe output.withUnsafeMutableBufferPointer { output in
                guard let bytes = output.baseAddress else { return }
                if fixedPoint != nil {
                    unsafe cresampling_blend_opaque(&blend, bytes)
                } else {
                    unsafe sums.withMemoryRebound(to: Float.self, capacity: count) {
                        unsafe cresampling_blend(&blend, $0)
                    }
                    unsafe round(into: bytes)
                }
            }
        }
    }

    private func round(into bytes: UnsafeMutablePointer<UInt8>) {
        for x in 0..<columns.count {
            var pixel = unsafe hasAlpha ? straight(sums[x], most) : sums[x]
            if !hasAlpha { pixel.w = most }
            if let curve { pixel = is16Bit ? SRGBCurve.samples(of: pixel, most: most) : curve.bytes(of: pixel) }
            let whole = pixel.clamped(lowerBound: .zero, upperBound: Pixel(repeating: most)) + 0.5
            for channel in 0..<4 {
                if is16Bit {
                    let sample = UInt16(whole[channel])
                    unsafe UnsafeMutableRawPointer(bytes).storeBytes(
                        of: sample, toByteOffset: x * 8 + channel * 2, as: UInt16.self)
                } else {
                    unsafe bytes[x * 4 + channel] = UInt8(whole[channel])
                }
            }
        }
    }
}

/// Returns the pixel with colors multiplied by alpha, 0 to `most`.
private func premultiplied(_ pixel: SIMD4<Float>, _ most: Float) -> SIMD4<Float> {
    let alpha = pixel.w
    var result = pixel * (alpha / most)
    result.w = alpha
    return result
}

/// Returns the inverse, without colors if alpha rounds to zero.
private func straight(_ pixel: SIMD4<Float>, _ most: Float) -> SIMD4<Float> {
    let alpha = pixel.w
    guard alpha >= 0.5 else { return .zero }
    var result = pixel * (most / min(alpha, most))
    result.w = alpha
    return result
}
