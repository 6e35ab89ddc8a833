#if os(Linux)
import Glibc
#endif

/// Requests the pages of an array's reserved memory from the kernel shortly before bytes are appended.
///
/// A page fault for each page of new memory takes longer than writing to the page; one request supplies many pages.
/// Memory that is never written is never supplied, so a huge image in a truncated file takes no more memory than
/// before.
struct PageSupply {
    /// The number of bytes requested at a time: few enough to remain in the processor's cache until they are written.
    static let step = 256 << 10
    /// The capacity of the smallest arrays whose pages are requested, in bytes.
    static let minimumCapacity = 1 << 20

    /// The offset of the first byte whose page has not been requested.
    private var end = 0

    /// Prepares the memory of an array that is about to grow by `count` bytes within its capacity.
    ///
    /// Requests nothing if the pages exist already, as in memory that the heap reuses.
    mutating func prepare(_ bytes: [UInt8], toAppend count: Int) {
        #if os(Linux)
        guard bytes.count + count > end, bytes.capacity >= Self.minimumCapacity else { return }
        let start = max(end, bytes.count)
        end = min(bytes.capacity, max(bytes.count + count, start + Self.step))
        unsafe bytes.withUnsafeBytes { unsafe supply($0.baseAddress, start..<end) }
        #endif
    }

    #if os(Linux)
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
    #endif
}
