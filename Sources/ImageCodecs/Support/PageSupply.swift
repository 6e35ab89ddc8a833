import Glibc

/// Requests the pages of an array's reserved memory from the kernel shortly before bytes are appended.
///
/// A page fault for each page of new memory takes longer than writing to the page; one request supplies many pages. At
/// most one step is supplied in advance, so while a file arrives, the image takes little more memory than its rows so far.
struct PageSupply {
    /// The number of bytes requested at a time: few enough to remain in the processor's cache until they are written.
    static let step = 256 << 10
    /// The capacity of the smallest arrays whose pages are requested, in bytes.
    static let minimumCapacity = 1 << 20

    /// The offset of the first byte whose page has not been requested.
    private var end = 0

    /// Prepares the memory of an array that is about to grow by `count` bytes within its capacity.
    ///
    /// Requests nothing if the last page of the step exists already, as in memory that the heap reuses.
    mutating func prepare(_ bytes: [UInt8], toAppend count: Int) {
        guard let range = nextRange(for: count, after: bytes.count, capacity: bytes.capacity) else { return }
        unsafe bytes.withUnsafeBytes { unsafe supply($0.baseAddress, range) }
    }

    /// Returns the range of memory to request next; `nil` if `count` bytes after the first `used` ones need none.
    mutating func nextRange(for count: Int, after used: Int, capacity: Int) -> Range<Int>? {
        guard used + count > end, capacity >= Self.minimumCapacity else { return nil }
        let start = max(end, used)
        end = min(capacity, max(used + count, start + Self.step))
        return start < end ? start..<end : nil
    }

    private static let pageSize = sysconf(Int32(_SC_PAGESIZE))
    /// `MADV_POPULATE_WRITE`, which the headers of older C libraries lack.
    private static let populateWrite: Int32 = 23

    private func supply(_ memory: UnsafeRawPointer?, _ range: Range<Int>) {
        guard let memory = unsafe memory.map({ unsafe UnsafeMutableRawPointer(mutating: $0) }) else { return }
        let first = unsafe (memory + range.lowerBound).alignedDown(toMultipleOf: Self.pageSize)
        let end = unsafe (memory + range.upperBound).alignedDown(toMultipleOf: Self.pageSize)
        guard unsafe end > first else { return }
        var isPresent: UInt8 = 0
        if unsafe mincore(end - Self.pageSize, Self.pageSize, &isPresent) == 0, isPresent & 1 != 0 { return }
        // Kernels before 5.14 refuse this, and the pages are supplied by page faults.
        _ = unsafe madvise(first, end - first, Self.populateWrite)
    }
}
