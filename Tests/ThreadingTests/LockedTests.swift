import Testing
import Threading

struct LockedTests {
    @Test func concurrentIncrementsOfLockedValueAreAllCounted() async {
        let counter = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask { for _ in 0..<1_000 { counter.withLock { $0 += 1 } } }
            }
        }
        #expect(counter.withLock { $0 } == 16_000)
    }
}
