import Testing
import Threading

struct BlockingQueueTests {
    private func drain(_ queue: BlockingQueue<Int>, onlyShort: Bool = false) -> [Int] {
        queue.close()
        var elements: [Int] = []
        while let element = queue.next(onlyShort: onlyShort) { elements.append(element) }
        return elements
    }

    @Test func oldestOfALineComesFirst() {
        let queue = BlockingQueue<Int>()
        for element in 0..<3_000 { queue.append(element) }
        #expect(drain(queue) == Array(0..<3_000))
    }

    @Test func shortWorkGoesBeforeLong() {
        let queue = BlockingQueue<Int>()
        queue.append(100, to: .long)
        for element in 0..<3 { queue.append(element) }
        #expect(drain(queue) == [0, 1, 2, 100])
    }

    @Test func longWorkHasItsTurnAfterEightThatAreShort() {
        let queue = BlockingQueue<Int>()
        for element in [100, 101] { queue.append(element, to: .long) }
        for element in 0..<20 { queue.append(element) }
        let order = [0, 1, 2, 3, 4, 5, 6, 7, 100, 8, 9, 10, 11, 12, 13, 14, 15, 101, 16, 17, 18, 19]
        #expect(drain(queue) == order)
    }

    @Test func whoTakesOnlyShortWorkLeavesTheLong() {
        let queue = BlockingQueue<Int>()
        queue.append(100, to: .long)
        queue.append(1)
        #expect(drain(queue, onlyShort: true) == [1])
        #expect(drain(queue) == [100])
    }
}
