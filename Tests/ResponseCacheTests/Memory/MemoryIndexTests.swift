import Testing

@testable import ResponseCache

@Suite struct MemoryIndexTests {
    private func key(_ number: Int, _ variant: Int = 0) -> ResponseStorageKey {
        ResponseStorageKey(resource: "\(number)", selection: "\(variant)")
    }

    @Test func memoryIndexEvictsLeastRecentlyUsedEntriesFirst() {
        var index = MemoryIndex<Int>()
        for number in 1...3 { index.insert(key(number), size: 10, number) }
        index.touch(key(1))
        index.insert(key(4), size: 20, 4)
        #expect(index.evict(to: 30) == [key(2), key(3)])
        #expect(index.size == 30 && index.count == 2)
        #expect(index.content(key(1)) == 1 && index.content(key(2)) == nil)
    }

    @Test func memoryIndexReplacesEntryOfTheSameKey() {
        var index = MemoryIndex<Int>()
        index.insert(key(1), size: 10, 1)
        index.insert(key(1), size: 25, 2)
        #expect(index.size == 25 && index.count == 1)
        #expect(index.remove(key(1)) && !index.remove(key(1)))
        #expect(index.size == 0 && index.keys(of: "1") == [])
    }

    @Test func memoryIndexListsVariantsOfAURLNewestFirst() {
        var index = MemoryIndex<Int>()
        for variant in 0..<3 { index.insert(key(1, variant), size: 1, variant) }
        index.insert(key(2), size: 1, 0)
        index.insert(key(1, 0), size: 1, 3)
        #expect(index.keys(of: "1") == [key(1, 0), key(1, 2), key(1, 1)])
    }

    @Test func manyUsesOfAnEntryTakeNoMemory() {
        var index = MemoryIndex<Int>()
        index.insert(key(1), size: 10, 1)
        index.insert(key(2), size: 10, 2)
        for _ in 0..<10_000 { index.touch(key(1)) }
        index.insert(key(3), size: 10, 3)
        #expect(index.evict(to: 20) == [key(2)])
    }
}
