import Testing

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct PrefetchSlotsTests {
    @Test func canceledWaiterPassesItsSlotOn() async {
        let slots = PrefetchSlots(count: 1)
        #expect(await slots.enter())
        let cancelled = Task { await slots.enter() }
        let next = Task { await slots.enter() }
        cancelled.cancel()
        #expect(await !cancelled.value)
        slots.leave()
        #expect(await next.value)
    }

    @Test func canceledTaskGetsNoSlot() async {
        let slots = PrefetchSlots(count: 1)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await slots.enter()
        }
        #expect(await !cancelled.value)
    }

    @Test func noSlotIsLostByEnteringCancelingAndPausing() async {
        let slots = PrefetchSlots(count: 3)
        await withDiscardingTaskGroup { group in
            for index in 0..<300 {
                let task = Task {
                    guard await slots.enter() else { return }
                    await Task.yield()
                    slots.leave()
                }
                group.addTask { await task.value }
                if index % 3 == 0 { group.addTask { task.cancel() } }
                if index % 7 == 0 {
                    slots.pause()
                    group.addTask { slots.resume() }
                }
            }
        }
        // All three are free again.
        for _ in 0..<3 { #expect(await slots.enter()) }
    }
}
