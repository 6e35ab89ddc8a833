import Testing

@testable import ResponseCache

/// The uses of files that are recorded later.
struct PendingUsesTests {
    /// A value behind a reference, so that expectations can change it.
    private final class Uses {
        private var value = PendingUses()

        func insert(_ resource: String, at time: Int, after recorded: Int) -> Bool {
            value.insert(ResponseStorageKey(resource: resource), at: time, after: recorded)
        }

        func removeAll() -> [String: Int] {
            Dictionary(uniqueKeysWithValues: value.removeAll().map { ($0.key.resource, $0.value) })
        }
    }

    private let start = 1_000_000 * PendingUses.precision

    @Test func pendingUsesHaveTheTimeOfTheLastUse() {
        let uses = Uses()
        let times = [start, start + 5, start + 3 * PendingUses.precision]
        for time in times { #expect(!uses.insert("a", at: time, after: start - 2 * PendingUses.precision)) }
        #expect(uses.removeAll() == ["a": start + 3 * PendingUses.precision])
        #expect(uses.removeAll().isEmpty)
    }

    @Test func useOfAFileUsedAMomentAgoIsNotPending() {
        let uses = Uses()
        #expect(!uses.insert("a", at: start, after: start - PendingUses.precision + 1))
        #expect(uses.removeAll().isEmpty)
        #expect(!uses.insert("a", at: start, after: start - PendingUses.precision))
        #expect(uses.removeAll() == ["a": start])
    }

    @Test(arguments: [Int.min, .max]) func useOfAFileWithATimeThatCannotBeIsRecorded(time: Int) {
        let uses = Uses()
        #expect(uses.insert("a", at: start, after: time))
        #expect(uses.removeAll() == ["a": start])
    }

    @Test func useOfAFileNotUsedForLongIsDueOnce() {
        let uses = Uses()
        #expect(!uses.insert("a", at: start, after: start - PendingUses.maximumAge + 1))
        #expect(uses.insert("b", at: start, after: start - PendingUses.maximumAge))
        #expect(!uses.insert("c", at: start, after: 0))
        #expect(uses.removeAll().count == 3)
        #expect(uses.insert("d", at: start, after: 0))
    }

    @Test func useIsDueIfTheClockHasBeenSetBack() {
        let uses = Uses()
        #expect(uses.insert("a", at: start, after: start + 1))
        #expect(uses.removeAll() == ["a": start])
    }

    @Test func pendingUsesAreDueWhenThereAreMany() {
        let uses = Uses()
        let recorded = start - 2 * PendingUses.precision
        let due = (0..<PendingUses.maximumCount + 10).filter { uses.insert("\($0)", at: start, after: recorded) }
        #expect(due == [PendingUses.batch - 1])
        #expect(uses.removeAll().count == PendingUses.maximumCount)
    }
}
