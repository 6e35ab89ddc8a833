import Testing

@testable import ResponseCache

@Suite struct CacheIndexTests {
    private func name(_ number: Int, _ variant: Int = 0) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 32 - digits.count) + digits + "-\(variant)"
    }

    @Test func cacheIndexEvictsLeastRecentlyUsedEntriesFirst() {
        var index = CacheIndex<Int>()
        for number in 1...3 { index.insert(name(number), size: 10, number) }
        index.touch(name(1))
        index.insert(name(4), size: 20, 4)
        #expect(index.evict(to: 30) == [name(2), name(3)])
        #expect(index.size == 30 && index.count == 2)
        #expect(index.content(name(1)) == 1 && index.content(name(2)) == nil)
    }

    @Test func cacheIndexReplacesEntryOfTheSameName() {
        var index = CacheIndex<Int>()
        index.insert(name(1), size: 10, 1)
        index.insert(name(1), size: 25, 2)
        #expect(index.size == 25 && index.count == 1)
        #expect(index.remove(name(1)) && !index.remove(name(1)))
        #expect(index.size == 0 && index.names(String(name(1).prefix(32))) == [])
    }

    @Test func cacheIndexListsVariantsOfAURLNewestFirst() {
        var index = CacheIndex<Int>()
        for variant in 0..<3 { index.insert(name(1, variant), size: 1, variant) }
        index.insert(name(2), size: 1, 0)
        index.insert(name(1, 0), size: 1, 3)
        #expect(index.names(String(name(1).prefix(32))) == [name(1, 0), name(1, 2), name(1, 1)])
    }

    @Test func manyUsesOfAnEntryTakeNoMemory() {
        var index = CacheIndex<Int>()
        index.insert(name(1), size: 10, 1)
        index.insert(name(2), size: 10, 2)
        for _ in 0..<10_000 { index.touch(name(1)) }
        index.insert(name(3), size: 10, 3)
        #expect(index.evict(to: 20) == [name(2)])
    }
}
