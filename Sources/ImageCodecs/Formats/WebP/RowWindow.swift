import Glibc

/// Reserved address space for all rows of an image, of which only the rows in use occupy memory.
///
/// Memory is allocated when a row is written, and returned to the system by ``discard(before:)``.
@safe
struct RowWindow: ~Copyable {
    /// The granularity of memory: that of huge pages, with which the kernel clears memory much faster than in small
    /// ones.
    static let granularity = 2 << 20

    /// The first row.
    let rows: UnsafeMutablePointer<UInt8>
    /// The size of all rows in bytes.
    let byteCount: Int
    /// The number of bytes of a row.
    let stride: Int
    private let mapping: UnsafeMutableRawPointer
    private let mappedBytes: Int
    private var discardedBytes = 0

    /// Returns `nil` if the address space cannot be reserved.
    init?(stride: Int, count: Int) {
        let (byteCount, overflow) = stride.multipliedReportingOverflow(by: count)
        // Large enough to begin at a multiple of the granularity.
        let (mappedBytes, tooLarge) = byteCount.addingReportingOverflow(Self.granularity)
        guard stride > 0, count > 0, !overflow, !tooLarge else { return nil }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let mapping = unsafe mmap(nil, mappedBytes, PROT_READ | PROT_WRITE, flags, -1, 0),
            unsafe mapping != MAP_FAILED
        else { return nil }
        let start = unsafe mapping.alignedUp(toMultipleOf: Self.granularity)
        unsafe self.mapping = mapping
        self.mappedBytes = mappedBytes
        unsafe rows = start.assumingMemoryBound(to: UInt8.self)
        self.byteCount = byteCount
        self.stride = stride
        // If there are no huge pages, small ones are used.
        _ = unsafe madvise(start, byteCount, MADV_HUGEPAGE)
    }

    deinit {
        unsafe munmap(mapping, mappedBytes)
    }

    /// Returns the memory of the rows above row `end` to the system, in whole units of the granularity.
    ///
    /// These rows must not be used anymore.
    mutating func discard(before end: Int) {
        let bytes = min(max(end, 0), byteCount / stride) * stride / Self.granularity * Self.granularity
        guard bytes > discardedBytes else { return }
        _ = unsafe madvise(rows + discardedBytes, bytes - discardedBytes, MADV_DONTNEED)
        discardedBytes = bytes
    }
}
