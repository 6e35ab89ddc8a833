/// A number of events that tests can wait for.
package final class Tally: Sendable {
    private let events = Awaited(0)

    package init() {}

    /// The number so far.
    package var count: Int { events.value }

    /// Counts an event.
    package func add() { events.update { $0 += 1 } }

    /// Returns when `count` events have happened, or the task is canceled, as by a time limit.
    package func reaches(_ count: Int) async { await events.wait { $0 >= count } }

    /// Returns whether `count` events happen within `duration`.
    package func reaches(_ count: Int, within duration: Duration) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.reaches(count) }
            group.addTask { try? await Task.sleep(for: duration) }
            await group.next()
            group.cancelAll()
        }
        return self.count >= count
    }
}
