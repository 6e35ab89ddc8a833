#if os(Linux)
import Glibc
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct PageSupplyTests {
    private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

    /// A Boolean value that indicates whether the kernel supplies pages on request, which it does since version 5.14.
    static let isSupported: Bool = {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let page = mmap(nil, pageSize, PROT_READ | PROT_WRITE, flags, -1, 0), page != MAP_FAILED
        else { return false }
        defer { munmap(page, pageSize) }
        return madvise(page, pageSize, 23) == 0
    }()

    /// Returns a new array with memory that no other array had before, in pages of the usual size.
    private func newArray() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(40 << 20)
        bytes.withUnsafeMutableBytes { memory in
            guard let start = memory.baseAddress?.alignedUp(toMultipleOf: Self.pageSize) else { return }
            madvise(start, 39 << 20, MADV_NOHUGEPAGE)
        }
        return bytes
    }

    /// Returns whether the page at `offset` of the array's memory exists.
    private func isPresent(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.withUnsafeBytes { memory in
            guard let start = memory.baseAddress else { return false }
            var isPresent: UInt8 = 0
            let page = (start + offset).alignedDown(toMultipleOf: Self.pageSize)
            let result = mincore(UnsafeMutableRawPointer(mutating: page), Self.pageSize, &isPresent)
            return result == 0 && isPresent & 1 != 0
        }
    }

    @Test(.enabled(if: isSupported)) func pagesAreSuppliedInSteps() {
        let bytes = newArray()
        var pages = PageSupply()
        #expect(!isPresent(bytes, at: PageSupply.step / 2))
        pages.prepare(bytes, toAppend: 100)
        for offset in stride(from: 0, to: PageSupply.step - Self.pageSize, by: Self.pageSize) {
            #expect(isPresent(bytes, at: offset))
        }
        #expect(!isPresent(bytes, at: PageSupply.step + Self.pageSize))
    }

    @Test(.enabled(if: isSupported)) func nextStepBeginsWhereTheLastOneEnded() {
        var bytes = newArray()
        var pages = PageSupply()
        pages.prepare(bytes, toAppend: 100)
        bytes.append(contentsOf: repeatElement(7, count: PageSupply.step))
        pages.prepare(bytes, toAppend: 100)
        #expect(isPresent(bytes, at: 2 * PageSupply.step - 2 * Self.pageSize))
        #expect(!isPresent(bytes, at: 2 * PageSupply.step + Self.pageSize))
        #expect(bytes.allSatisfy { $0 == 7 })
    }

    @Test(.enabled(if: isSupported)) func rowsLargerThanAStepAreSuppliedCompletely() {
        let bytes = newArray()
        var pages = PageSupply()
        pages.prepare(bytes, toAppend: 3 * PageSupply.step)
        #expect(isPresent(bytes, at: 3 * PageSupply.step - 2 * Self.pageSize))
    }

    @Test func endOfTheArrayIsNotExceeded() {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(PageSupply.minimumCapacity)
        var pages = PageSupply()
        while bytes.count + 5_000 <= bytes.capacity {
            pages.prepare(bytes, toAppend: 5_000)
            bytes.append(contentsOf: repeatElement(9, count: 5_000))
        }
        pages.prepare(bytes, toAppend: bytes.capacity - bytes.count)
        #expect(bytes.allSatisfy { $0 == 9 })
    }
}
#endif
