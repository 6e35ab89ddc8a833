import Testing

@testable import AsyncWebImage

struct DownloadQueueTests {
    private func queue(limit: Int = 1, hostLimit: Int = .max, _ order: ExecutionOrder = .fifo) -> DownloadQueue {
        DownloadQueue(limit: limit, hostLimit: hostLimit, order: order)
    }

    /// Runs everything one after the other, and says in which order.
    private func drain(_ queue: inout DownloadQueue) -> [UInt64] {
        var order: [UInt64] = []
        while let id = queue.next() {
            order.append(id)
            queue.release(id)
        }
        return order
    }

    @Test func firstComeIsFirstServed() {
        var queue = queue()
        for id in 1...5 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        #expect(drain(&queue) == [1, 2, 3, 4, 5])
    }

    @Test func whoFindsAFreeSlotAndNobodyInLineRunsAtOnce() {
        var queue = queue(limit: 2, hostLimit: 1)
        let first = queue.admit(1, host: "a")
        let beyondTheHostsShare = queue.admit(2, host: "a")
        queue.enqueue(2, host: "a", priority: .normal, sequence: 2)
        let pastTheLine = queue.admit(3, host: "b")
        queue.enqueue(3, host: "b", priority: .normal, sequence: 3)
        #expect((first, beyondTheHostsShare, pastTheLine) == (true, false, false))
        #expect(queue.next() == 3)
        #expect(queue.next() == nil)
        queue.release(1)
        #expect(queue.next() == 2)
    }

    @Test func lastComeIsFirstServedAsAStack() {
        var queue = queue(.lifo)
        queue.enqueue(1, host: "a", priority: .normal, sequence: 1)
        #expect(queue.next() == 1)
        for id in 2...14 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        queue.release(1)
        #expect(drain(&queue) == [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2])
    }

    @Test func changingTheOrderAppliesToWhatWaits() {
        var queue = queue()
        for id in 1...4 as ClosedRange<UInt64> { queue.enqueue(id, host: "\(id % 2)", priority: .normal, sequence: id) }
        queue.order = .lifo
        #expect(drain(&queue) == [4, 3, 2, 1])
    }

    @Test(arguments: [ExecutionOrder.fifo, .lifo])
    func higherPriorityGoesFirst(_ order: ExecutionOrder) {
        var queue = queue(order)
        queue.enqueue(1, host: "a", priority: .low, sequence: 1)
        queue.enqueue(2, host: "a", priority: .normal, sequence: 2)
        queue.enqueue(3, host: "b", priority: .high, sequence: 3)
        #expect(drain(&queue) == [3, 2, 1])
    }

    @Test func raisedPriorityKeepsThePlaceByArrival() {
        var queue = queue()
        for id in 1...4 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        queue.reprioritize(4, to: .high)
        queue.reprioritize(2, to: .high)
        queue.reprioritize(1, to: .low)
        #expect(drain(&queue) == [2, 4, 3, 1])
    }

    @Test func neverMoreThanTheLimitRun() {
        var queue = queue(limit: 3)
        for id in 1...10 as ClosedRange<UInt64> { queue.enqueue(id, host: "\(id)", priority: .normal, sequence: id) }
        #expect((0..<5).compactMap { _ in queue.next() } == [1, 2, 3])
        queue.release(2)
        #expect((0..<5).compactMap { _ in queue.next() } == [4])
        #expect(queue.runningCount == 3 && queue.waitingCount == 6)
    }

    @Test func busyHostDoesNotHoldUpTheOthers() {
        var queue = queue(limit: 4, hostLimit: 1)
        for id in 1...3 as ClosedRange<UInt64> { queue.enqueue(id, host: "slow", priority: .high, sequence: id) }
        for id in 4...6 as ClosedRange<UInt64> { queue.enqueue(id, host: "host\(id)", priority: .low, sequence: id) }
        #expect((0..<9).compactMap { _ in queue.next() } == [1, 4, 5, 6])
        queue.release(4)
        #expect(queue.next() == nil)
        queue.release(1)
        #expect(queue.next() == 2)
    }

    @Test func removedDownloadsNeverRun() {
        var queue = queue(hostLimit: 1)
        for id in 1...4 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        queue.remove(1)
        queue.remove(3)
        #expect(drain(&queue) == [2, 4])
        #expect(queue.waitingCount == 0 && queue.runningCount == 0)
    }

    /// Against a plain list that is searched from the front, with thousands of random events.
    @Test(arguments: [ExecutionOrder.fifo, .lifo], [1, 2, 3] as [UInt64])
    func agreesWithAPlainList(_ order: ExecutionOrder, seed: UInt64) {
        struct Item {
            let id: UInt64
            let host: String
            var priority: DownloadPriority
        }
        var random = SplitMix(seed: seed)
        var queue = queue(limit: 4, hostLimit: 2, order)
        var waiting: [Item] = []
        var running: [Item] = []
        var nextID: UInt64 = 0

        func expectedNext() -> Int? {
            guard running.count < 4 else { return nil }
            let eligible = waiting.indices.filter { index in
                running.count { $0.host == waiting[index].host } < 2
            }
            return eligible.max { left, right in
                let (left, right) = (waiting[left], waiting[right])
                if left.priority != right.priority { return left.priority < right.priority }
                return order == .fifo ? left.id > right.id : left.id < right.id
            }
        }

        for _ in 0..<5_000 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1:
                nextID += 1
                let item = Item(
                    id: nextID, host: "\(Int.random(in: 0..<4, using: &random))",
                    priority: DownloadPriority.allCases.randomElement(using: &random) ?? .normal)
                waiting.append(item)
                queue.enqueue(item.id, host: item.host, priority: item.priority, sequence: item.id)
            case 2:
                guard let index = waiting.indices.randomElement(using: &random) else { continue }
                queue.remove(waiting.remove(at: index).id)
            case 3:
                guard let index = waiting.indices.randomElement(using: &random) else { continue }
                waiting[index].priority = DownloadPriority.allCases.randomElement(using: &random) ?? .normal
                queue.reprioritize(waiting[index].id, to: waiting[index].priority)
            case 4:
                guard let index = running.indices.randomElement(using: &random) else { continue }
                queue.release(running.remove(at: index).id)
            default:
                let expected = expectedNext()
                #expect(queue.next() == expected.map { waiting[$0].id })
                if let expected { running.append(waiting.remove(at: expected)) }
            }
            #expect(queue.waitingCount == waiting.count && queue.runningCount == running.count)
        }
    }
}
