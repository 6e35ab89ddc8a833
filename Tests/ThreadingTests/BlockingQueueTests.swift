import Testing
import Threading

struct BlockingQueueTests {
    private func drain(_ queue: BlockingQueue<Int>, onlyShort: Bool = false) -> [Int] {
        queue.close()
        var elements: [Int] = []
        while let element = queue.next(onlyShort: onlyShort) { elements.append(element) }
        return elements
    }

    @Test func blockingQueueReturnsTheOldestElementFirst() {
        let queue = BlockingQueue<Int>()
        for element in 0..<3_000 { queue.append(element) }
        #expect(drain(queue) == Array(0..<3_000))
    }

    @Test func shortWorkRunsBeforeLongWork() {
        let queue = BlockingQueue<Int>()
        queue.append(100, to: .long)
        for element in 0..<3 { queue.append(element) }
        #expect(drain(queue) == [0, 1, 2, 100])
    }

    @Test func longWorkRunsAfterAtMostEightShortElements() {
        let queue = BlockingQueue<Int>()
        for element in [100, 101] { queue.append(element, to: .long) }
        for element in 0..<20 { queue.append(element) }
        let order = [0, 1, 2, 3, 4, 5, 6, 7, 100, 8, 9, 10, 11, 12, 13, 14, 15, 101, 16, 17, 18, 19]
        #expect(drain(queue) == order)
    }

    @Test func shortWorkConsumerLeavesLongWork() {
        let queue = BlockingQueue<Int>()
        queue.append(100, to: .long)
        queue.append(1)
        #expect(drain(queue, onlyShort: true) == [1])
        #expect(drain(queue) == [100])
    }

    /// Rounds of two elements, the first of which ends only when the second does: the thread that takes one must leave
    /// another thread awake for the other.
    @Test(.timeLimit(.minutes(1)))
    func noElementWaitsWhileAThreadIsIdle() async throws {
        let queue = BlockingQueue<@Sendable () -> Void>()
        for onlyShort in [false, true] {
            try startThread(named: "worker") { while let work = queue.next(onlyShort: onlyShort) { work() } }
        }
        for _ in 0..<2_000 {
            await withCheckedContinuation { continuation in
                let second = OneTimeEvent()
                queue.append {
                    second.wait()
                    continuation.resume()
                }
                queue.append { second.happen() }
            }
        }
        queue.close()
    }
}
