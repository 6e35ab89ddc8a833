import CResampling

/// The arithmetic of ``PlanarResampler`` for one plane: filters source rows to the target width, one float per sample,
/// and blends them into target rows.
///
/// Memory safety: `columns` refers only to source columns of its range (verified by tests), the buffers are allocated
/// here with the same sizes, and each method checks the spans and the row numbers it receives.
@safe
struct PlaneKernel: ~Copyable {
    private let columns: FixedPointColumns
    private let sourceColumns: Range<Int>
    private let keptRows: Int
    /// The number of floats in a row: that of target columns, rounded up to a multiple of four.
    private let floatsPerRow: Int
    /// Memory for the required part of a row, followed by zeros; empty unless that has fewer samples than the filter.
    private let extended: UnsafeMutablePointer<UInt8>
    /// The latest rows, filtered to the target width; row n is stored at n % keptRows.
    private let narrow: UnsafeMutablePointer<Float>
    /// The rows that contribute to a target row.
    private let rows: UnsafeMutablePointer<UnsafePointer<Float>>
    /// The latest target row.
    private let sums: UnsafeMutablePointer<Float>

    /// Creates a kernel that keeps the latest `keptRows` source rows.
    init(columns: ResamplingWeights, keptRows: Int) {
        self.columns = FixedPointColumns(columns, step: FixedPointColumns.sampleStep)
        self.keptRows = keptRows
        sourceColumns = columns.range
        floatsPerRow = Self.floatsPerRow(columns.count)
        let extendedCount = self.columns.sourceCount > columns.range.count ? self.columns.sourceCount : 0
        unsafe extended = .allocate(capacity: extendedCount)
        unsafe extended.initialize(repeating: 0, count: extendedCount)
        unsafe narrow = .allocate(capacity: floatsPerRow * keptRows)
        unsafe narrow.initialize(repeating: 0, count: floatsPerRow * keptRows)
        unsafe rows = .allocate(capacity: keptRows)
        unsafe sums = .allocate(capacity: floatsPerRow)
        unsafe sums.initialize(repeating: 0, count: floatsPerRow)
    }

    deinit {
        unsafe extended.deallocate()
        unsafe narrow.deallocate()
        unsafe rows.deallocate()
        unsafe sums.deallocate()
    }

    private static func floatsPerRow(_ columns: Int) -> Int { (columns + 3) / 4 * 4 }

    /// Returns the maximum memory that such a kernel holds, in bytes, with `taps` source samples per target sample.
    static func workingBytes(taps: Int, target: Int, keptRows: Int) -> Int {
        FixedPointColumns.workingBytes(taps: taps, target: target, step: FixedPointColumns.sampleStep)
            + (keptRows + 1) * floatsPerRow(target) * 4 + keptRows * 8
    }

    /// Filters source row `index` horizontally.
    func filter(_ row: Span<UInt8>, index: Int) {
        precondition(row.count >= sourceColumns.upperBound && index >= 0)
        unsafe row.extracting(sourceColumns).withUnsafeBufferPointer { samples in
            guard var first = samples.baseAddress else { return }
            if columns.sourceCount > samples.count {
                unsafe extended.update(from: first, count: samples.count)
                unsafe first = UnsafePointer(extended)
            }
            unsafe columns.filter(samples: first, into: narrow + index % keptRows * floatsPerRow)
        }
    }

    /// Computes the target row made of the source rows starting at `start`, one for each of `weights`, and returns its
    /// samples, which are valid until the next call.
    func blend(from start: Int, weights: ArraySlice<Float>) -> UnsafePointer<Float> {
        precondition(start >= 0 && weights.count <= keptRows)
        for index in 0..<weights.count {
            unsafe rows[index] = UnsafePointer(narrow + (start + index) % keptRows * floatsPerRow)
        }
        unsafe weights.withUnsafeBufferPointer { weights in
            guard let factors = weights.baseAddress else { return }
            var blend = unsafe CResamplingRows(
                rows: rows, weights: factors, row_count: Int32(weights.count), count: Int32(floatsPerRow))
            unsafe cresampling_blend(&blend, sums)
        }
        return unsafe UnsafePointer(sums)
    }
}
