import Testing
import Threading

@testable import AsyncWebImage

struct BodyCrowdTests {
    private let called = Locked<[GrowthQueue.ID]>([])

    /// Which of the bodies may grow.
    private func admit(_ ids: GrowthQueue.ID..., to crowd: inout GrowthQueue) -> [GrowthQueue.ID] {
        ids.filter { id in crowd.admit(id) { [called] in called.withLock { $0.append(id) } } }
    }

    @Test func oneGrowsAndTheOthersWaitForItsEndTheOldestFirst() {
        var crowd = GrowthQueue()
        let first = admit(3, 2, 1, 3, to: &crowd)
        #expect(first == [3, 3])
        let none = crowd.next()
        #expect(none == nil)

        let othersWait = crowd.leave(3)
        #expect(othersWait)
        crowd.next()?()
        #expect(crowd.growing == 1 && called.withLock { $0 } == [1])
        let second = admit(1, 2, to: &crowd)
        #expect(second == [1])

        _ = crowd.leave(1)
        crowd.next()?()
        #expect(called.withLock { $0 } == [1, 2])
        let stillWait = crowd.leave(2)
        #expect(!stillWait)
    }

    @Test func oneThatLeavesWhileItWaitsIsNotCalled() {
        var crowd = GrowthQueue()
        _ = admit(1, 2, 3, to: &crowd)
        let mustChoose = crowd.leave(2)
        #expect(!mustChoose)
        _ = crowd.leave(1)
        crowd.next()?()
        #expect(called.withLock { $0 } == [3])
    }

    @Test func allGoOnAtOnceWhereThereIsMemory() {
        var crowd = GrowthQueue()
        _ = admit(1, 2, 3, to: &crowd)
        for goOn in crowd.takeAll() { goOn() }
        #expect(called.withLock { $0.sorted() } == [2, 3])
        let none = crowd.next()
        #expect(crowd.growing == nil && none == nil)
    }
}
