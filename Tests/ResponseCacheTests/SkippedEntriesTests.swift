import Testing

@testable import ResponseCache

struct SkippedEntriesTests {
    @Test func anEntryIsSkippedForAMinute() {
        var skipped = SkippedEntries()
        skipped.insert("a", at: 1_000)
        #expect(skipped.contains("a", at: 1_000) && skipped.contains("a", at: 1_059))
        #expect(!skipped.contains("a", at: 1_060) && !skipped.contains("b", at: 1_000))
    }

    @Test func anEntryIsUsedAgainWhenTheClockIsSetBack() {
        var skipped = SkippedEntries()
        skipped.insert("a", at: 1_000)
        #expect(!skipped.contains("a", at: 999))
    }

    @Test func removedEntriesAreNotSkipped() {
        var skipped = SkippedEntries()
        for name in ["a", "b", "c"] { skipped.insert(name, at: 0) }
        skipped.remove("a")
        #expect(!skipped.contains("a", at: 0) && skipped.contains("b", at: 0))
        skipped.removeAll()
        #expect(!skipped.contains("b", at: 0) && skipped.isEmpty)
    }

    @Test func theNumberOfSkippedEntriesIsBounded() {
        var skipped = SkippedEntries()
        let names = (0..<3 * SkippedEntries.maximumCount).map { "\($0)" }
        for name in names {
            skipped.insert(name, at: 0)
            #expect(skipped.contains(name, at: 0))
        }
        #expect(names.filter { skipped.contains($0, at: 0) }.count <= SkippedEntries.maximumCount)
    }
}
