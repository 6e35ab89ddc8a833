import Glibc
import ImageTestSupport
import Testing

@testable import ImageCodecs

struct PageSupplyTests {
    private static let pageSize = sysconf(Int32(_SC_PAGESIZE))

    /// A Boolean value that indicates whether the kernel supplies pages on request, as Linux does since version 5.14, and
    /// reports which pages exist.
    static let isSupported: Bool = {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let page = mmap(nil, pageSize, PROT_READ | PROT_WRITE, flags, -1, 0), page != MAP_FAILED
        else { return false }
        defer { munmap(page, pageSize) }
        var isPresent: UInt8 = 1
        guard mincore(page, pageSize, &isPresent) == 0, isPresent & 1 == 0 else { return false }
        return madvise(page, pageSize, 23) == 0
    }()

    /// The number of bytes at the beginning of a new array, which can be in a huge page.
    private static let beginning = 4 << 20

    /// Returns an array whose memory after ``beginning`` no other array had before, in pages of the usual size.
    private func newArray() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(40 << 20)
        bytes.withUnsafeMutableBytes { memory in
            guard let start = memory.baseAddress?.alignedUp(toMultipleOf: Self.pageSize) else { return }
            madvise(start, 39 << 20, MADV_NOHUGEPAGE)
        }
        bytes.append(contentsOf: repeatElement(7, count: Self.beginning))
        return bytes
    }

    /// Returns whether the page at `offset` after the beginning of the array's memory exists.
    private func isPresent(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.withUnsafeBytes { memory in
            guard let start = memory.baseAddress.map({ $0 + Self.beginning }) else { return false }
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

    @Test(arguments: [1 << 20, 1 << 20 + 1, 3_000_000], [1, 5_000, 300_000, 1 << 20])
    func memoryIsRequestedOnceAndNotBeyondItsEnd(capacity: Int, rowBytes: Int) {
        var pages = PageSupply()
        var used = 0
        var requested = 0
        while used + rowBytes <= capacity {
            if let range = pages.nextRange(for: rowBytes, after: used, capacity: capacity) {
                #expect(range.lowerBound == requested && range.upperBound <= capacity)
                requested = range.upperBound
            }
            used += rowBytes
            #expect(used <= requested && requested <= used + PageSupply.step)
        }
    }

    @Test func memoryOfSmallArraysIsNotRequested() {
        var pages = PageSupply()
        #expect(pages.nextRange(for: 100, after: 0, capacity: PageSupply.minimumCapacity - 1) == nil)
    }
}
