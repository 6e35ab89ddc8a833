import Testing

@testable import ResponseCache

struct SkippedEntriesTests {
    private let a = ResponseStorageKey(resource: "a")
    private let b = ResponseStorageKey(resource: "b")

    @Test func anEntryIsSkippedForAMinute() {
        var skipped = SkippedEntries()
        skipped.insert(a, at: 1_000)
        #expect(skipped.contains(a, at: 1_000) && skipped.contains(a, at: 1_059))
        #expect(!skipped.contains(a, at: 1_060) && !skipped.contains(b, at: 1_000))
    }

    @Test func anEntryIsUsedAgainWhenTheClockIsSetBack() {
        var skipped = SkippedEntries()
        skipped.insert(a, at: 1_000)
        #expect(!skipped.contains(a, at: 999))
    }

    @Test func removedEntriesAreNotSkipped() {
        var skipped = SkippedEntries()
        for key in [a, b] { skipped.insert(key, at: 0) }
        skipped.remove(a)
        #expect(!skipped.contains(a, at: 0) && skipped.contains(b, at: 0))
        skipped.removeAll()
        #expect(!skipped.contains(b, at: 0) && skipped.isEmpty)
    }

    @Test func theNumberOfSkippedEntriesIsBounded() {
        var skipped = SkippedEntries()
        let keys = (0..<3 * SkippedEntries.maximumCount).map { ResponseStorageKey(resource: "\($0)") }
        for key in keys {
            skipped.insert(key, at: 0)
            #expect(skipped.contains(key, at: 0))
        }
        #expect(keys.filter { skipped.contains($0, at: 0) }.count <= SkippedEntries.maximumCount)
    }
}
