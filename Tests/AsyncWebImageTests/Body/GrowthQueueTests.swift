import Testing
import Threading

@testable import AsyncWebImage

struct GrowthQueueTests {
    private let called = Locked<[GrowthQueue.ID]>([])

    /// Returns the bodies that may grow.
    private func admit(_ ids: GrowthQueue.ID..., to queue: inout GrowthQueue) -> [GrowthQueue.ID] {
        ids.filter { id in queue.admit(id) { [called] in called.withLock { $0.append(id) } } }
    }

    @Test func onlyTheOldestBodyGrowsWhileOthersWait() {
        var queue = GrowthQueue()
        let first = admit(3, 2, 1, 3, to: &queue)
        #expect(first == [3, 3])
        let none = queue.next()
        #expect(none == nil)

        let othersWait = queue.leave(3)
        #expect(othersWait)
        queue.next()?()
        #expect(queue.growing == 1 && called.withLock { $0 } == [1])
        let second = admit(1, 2, to: &queue)
        #expect(second == [1])

        _ = queue.leave(1)
        queue.next()?()
        #expect(called.withLock { $0 } == [1, 2])
        let stillWait = queue.leave(2)
        #expect(!stillWait)
    }

    @Test func bodyThatLeavesGrowthQueueIsNotCalled() {
        var queue = GrowthQueue()
        _ = admit(1, 2, 3, to: &queue)
        let mustChoose = queue.leave(2)
        #expect(!mustChoose)
        _ = queue.leave(1)
        queue.next()?()
        #expect(called.withLock { $0 } == [3])
    }

    @Test func allBodiesGrowAtOnceIfMemoryAllows() {
        var queue = GrowthQueue()
        _ = admit(1, 2, 3, to: &queue)
        for resume in queue.takeAll() { resume() }
        #expect(called.withLock { $0.sorted() } == [2, 3])
        let none = queue.next()
        #expect(queue.growing == nil && none == nil)
    }
}
