import CResampling
import ImageCodecs

/// A Gaussian blur of an image, row by row, in windows of rows.
///
/// Colors have to be in the order of the format, which does not matter here. Unsafe for speed. Memory safety: the
/// buffers are allocated here, with the sizes of the tables that refer to them, and rows of the image are spans.
@safe
struct GaussianFilter: ~Copyable {
    private let size: PixelSize
    private let format: PixelFormat
    private let kernel: GaussianKernel
    private let columns: ResamplingWeights
    /// The same weights for rows of bytes; `nil` for formats that have others.
    private let fixedPoint: FixedPointColumns?
    /// The number of calculated columns.
    private let count: Int
    /// The number of source rows, and of calculated rows, that are kept.
    private let (keptRows, keptSums): (Int, Int)
    /// The latest source rows, narrowed; row n is stored at n % keptRows.
    private let narrow: UnsafeMutablePointer<FloatPixel>
    /// The latest calculated rows.
    private let sums: UnsafeMutablePointer<FloatPixel>
    /// A row between calculated ones.
    private let between: UnsafeMutablePointer<FloatPixel>
    /// The weights of ``GaussianKernel/widening`` for a row, each four times.
    private let spreadWeights: UnsafeMutablePointer<FloatPixel>
    /// The rows to be added.
    private let pointers: UnsafeMutablePointer<UnsafePointer<Float>>
    /// A row of bytes with zeros after it, if it is shorter than the weights.
    private var extended: [UInt8]
    /// A source row.
    private var wide: [FloatPixel]
    private var (nextRow, nextSum) = (0, 0)
    /// A Boolean value that indicates whether all rows so far are opaque.
    private(set) var isOpaque = true

    /// Creates a filter for images of `size`, not empty.
    init(sigma: Double, size: PixelSize, format: PixelFormat) {
        (self.size, self.format) = (size, format)
        kernel = GaussianKernel(sigma: sigma)
        count = kernel.count(for: size.width)
        columns = ResamplingWeights(
            from: size.width, first: kernel.first, step: kernel.step, count: count, kernel: kernel.narrowing)
        fixedPoint = format.bytesPerPixel == 4 ? FixedPointColumns(columns) : nil
        keptRows = min(kernel.narrowing.count, size.height)
        keptSums = GaussianKernel.taps
        unsafe narrow = Self.zeros(count * keptRows)
        unsafe sums = Self.zeros(count * keptSums)
        unsafe between = Self.zeros(count)
        unsafe spreadWeights = Self.zeros(kernel.step * GaussianKernel.taps)
        unsafe pointers = .allocate(capacity: max(kernel.narrowing.count, GaussianKernel.taps))
        let sourceCount = fixedPoint?.sourceCount ?? 0
        extended = [UInt8](repeating: 0, count: sourceCount > size.width ? sourceCount * 4 : 0)
        wide = [FloatPixel](repeating: .zero, count: size.width)
        for (tap, weights) in kernel.widening.enumerated() {
            for (phase, weight) in weights.enumerated() {
                unsafe spreadWeights[tap * kernel.step + phase] = FloatPixel(repeating: weight)
            }
        }
    }

    private static func zeros(_ count: Int) -> UnsafeMutablePointer<FloatPixel> {
        let memory = UnsafeMutablePointer<FloatPixel>.allocate(capacity: count)
        unsafe memory.initialize(repeating: .zero, count: count)
        return unsafe memory
    }

    deinit {
        unsafe narrow.deallocate()
        unsafe sums.deallocate()
        unsafe between.deallocate()
        unsafe spreadWeights.deallocate()
        unsafe pointers.deallocate()
    }

    /// Writes row `row` of the blurred `image` to `result`, which has room for it; rows are requested in order.
    ///
    /// Rows of the image after `row` must be unchanged, and those before it are not read anymore. Throws
    /// `CancellationError` if the task is canceled.
    mutating func blur(
        _ row: Int, of image: borrowing PixelBuffer, into result: inout [FloatPixel]
    ) throws(CancellationError) {
        precondition(result.count >= size.width)
        guard kernel.step > 1 else {
            try prepareSums(upTo: row, image.bytes.span)
            unsafe result.withUnsafeMutableBufferPointer { result in
                guard let target = result.baseAddress else { return }
                unsafe target.update(from: sums + row % keptSums * count, count: size.width)
            }
            return
        }
        let cell = row / kernel.step
        try prepareSums(upTo: cell + GaussianKernel.taps - 1, image.bytes.span)
        let phase = row % kernel.step
        for tap in 0..<GaussianKernel.taps {
            unsafe pointers[tap] = Self.floats(sums + (cell + tap) % keptSums * count)
        }
        let weights = kernel.widening.map { $0[phase] }
        unsafe blend(weights[...], into: between)
        var spread = unsafe CResamplingSpread(
            count: Int32(size.width), step: Int32(kernel.step), weights: Self.floats(spreadWeights))
        unsafe result.withUnsafeMutableBytes { result in
            guard let target = unsafe result.baseAddress?.assumingMemoryBound(to: Float.self) else { return }
            unsafe cresampling_spread(&spread, Self.floats(between), target)
        }
    }

    private static func floats(_ pixels: UnsafePointer<FloatPixel>) -> UnsafePointer<Float> {
        unsafe UnsafeRawPointer(pixels).assumingMemoryBound(to: Float.self)
    }

    /// Adds the rows of ``pointers``, one for each of `weights`.
    private func blend(_ weights: ArraySlice<Float>, into target: UnsafeMutablePointer<FloatPixel>) {
        unsafe weights.withUnsafeBufferPointer { weights in
            guard let factors = weights.baseAddress else { return }
            var rows = unsafe CResamplingRows(
                rows: pointers, weights: factors, row_count: Int32(weights.count), count: Int32(count * 4))
            unsafe cresampling_blend(
                &rows, UnsafeMutableRawPointer(target).assumingMemoryBound(to: Float.self))
        }
    }

    /// Calculates the calculated rows up to `last`.
    ///
    /// The first one of a strong blur consists of thousands of source rows.
    private mutating func prepareSums(upTo last: Int, _ bytes: Span<UInt8>) throws(CancellationError) {
        while nextSum <= last {
            let top = kernel.first + nextSum * kernel.step - kernel.narrowing.count / 2
            let lastRow = min(max(top + kernel.narrowing.count - 1, 0), size.height - 1)
            while nextRow <= lastRow {
                if Task.isCancelled { throw CancellationError() }
                narrowRow(bytes)
                nextRow += 1
            }
            // Rows outside the image equal the outermost ones.
            for tap in kernel.narrowing.indices {
                let row = min(max(top + tap, 0), size.height - 1)
                unsafe pointers[tap] = Self.floats(narrow + row % keptRows * count)
            }
            unsafe blend(kernel.narrowing[...], into: sums + nextSum % keptSums * count)
            nextSum += 1
        }
    }

    /// Narrows the next source row.
    private mutating func narrowRow(_ bytes: Span<UInt8>) {
        let rowBytes = size.width * format.bytesPerPixel
        let row = bytes.extracting(nextRow * rowBytes..<(nextRow + 1) * rowBytes)
        let target = unsafe narrow + nextRow % keptRows * count
        let isPremultiplied = format == .rgba8Premultiplied || format == .bgra8Premultiplied
        if let fixedPoint, isPremultiplied || Self.isOpaque(row) {
            if isPremultiplied { isOpaque = false }
            unsafe row.withUnsafeBufferPointer { pixels in
                guard var source = pixels.baseAddress else { return }
                unsafe extended.withUnsafeMutableBufferPointer { extended in
                    // The address of an empty array is not nil.
                    if let copy = extended.baseAddress, extended.count >= pixels.count {
                        unsafe copy.update(from: source, count: pixels.count)
                        unsafe source = UnsafePointer(copy)
                    }
                    unsafe fixedPoint.filter(
                        source, into: UnsafeMutableRawPointer(target).assumingMemoryBound(to: Float.self))
                }
            }
            return
        }
        isOpaque = isOpaque && format == .gray8
        storedFormat.read(row, into: &wide)
        unsafe wide.withUnsafeBufferPointer { wide in
            for column in 0..<count {
                let (start, end) = (columns.offsets[column], columns.offsets[column + 1])
                var sum = FloatPixel.zero
                var x = columns.starts[column]
                for offset in start..<end {
                    unsafe sum += wide[x] * columns.weights[offset]
                    x += 1
                }
                unsafe target[column] = sum
            }
        }
    }

    /// The format with the same alpha whose colors are read in the stored order.
    var storedFormat: PixelFormat {
        switch format {
        case .bgra8: .rgba8
        case .bgra8Premultiplied: .rgba8Premultiplied
        case .rgba8, .rgba8Premultiplied, .gray8, .rgba16: format
        }
    }

    private static func isOpaque(_ row: Span<UInt8>) -> Bool {
        unsafe row.withUnsafeBytes { bytes in
            var all: UInt32 = .max
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                all &= unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            }
            return UInt32(littleEndian: all) >> 24 == 255
        }
    }
}

extension [FloatPixel] {
    /// Rounds the pixels, opaque or of a format that is premultiplied, to `bytes` from `start`, where there is room.
    func round(into bytes: inout MutableSpan<UInt8>, at start: Int) {
        precondition(start >= 0 && start + count * 4 <= bytes.count)
        unsafe withUnsafeBytes { pixels in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                guard let target = bytes.baseAddress,
                    let source = unsafe pixels.baseAddress?.assumingMemoryBound(to: Float.self)
                else { return }
                unsafe cresampling_round(source, Int32(count), target + start)
            }
        }
    }
}
