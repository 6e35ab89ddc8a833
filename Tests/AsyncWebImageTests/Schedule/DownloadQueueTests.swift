import TestSupport
import Testing

@testable import AsyncWebImage

struct DownloadQueueTests {
    private func queue(
        limit: Int = 1, limitPerHost: Int = .max, connectionsPerHost: Int = .max,
        _ order: DownloadConfiguration.ExecutionOrder = .fifo
    ) -> DownloadQueue {
        DownloadQueue(limit: limit, limitPerHost: limitPerHost, connectionsPerHost: connectionsPerHost, order: order)
    }

    /// Runs all downloads one after the other, and returns their order.
    private func drain(_ queue: inout DownloadQueue) -> [UInt64] {
        var order: [UInt64] = []
        while let id = queue.next() {
            order.append(id)
            queue.release(id)
        }
        return order
    }

    @Test func fifoQueueStartsOldestDownloadFirst() {
        var queue = queue()
        for id in 1...5 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        #expect(drain(&queue) == [1, 2, 3, 4, 5])
    }

    @Test func freeSlotAndEmptyQueueAdmitImmediately() {
        var queue = queue(limit: 2, limitPerHost: 1)
        let first = queue.admit(1, host: "a", priority: .normal)
        let beyondTheHostsShare = queue.admit(2, host: "a", priority: .normal)
        queue.enqueue(2, host: "a", priority: .normal, sequence: 2)
        let pastTheLine = queue.admit(3, host: "b", priority: .normal)
        queue.enqueue(3, host: "b", priority: .normal, sequence: 3)
        #expect((first, beyondTheHostsShare, pastTheLine) == (true, false, false))
        #expect(queue.next() == 3)
        #expect(queue.next() == nil)
        queue.release(1)
        #expect(queue.next() == 2)
    }

    /// With one slot, downloads 2 to 7, and then 8 to 14, are added while 1 runs; they start in stack order: 14 to 2.
    @Test func lifoQueueStartsNewestDownloadFirst() {
        var queue = queue(.lifo)
        queue.enqueue(1, host: "a", priority: .normal, sequence: 1)
        #expect(queue.next() == 1)
        for id in 2...7 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        #expect(queue.next() == nil)
        for id in 8...14 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        queue.release(1)
        #expect(drain(&queue) == [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2])
    }

    @Test func lifoOrderAppliesWithinEachPriority() {
        var queue = queue(.lifo)
        let priorities: [DownloadPriority] = [.low, .high, .normal, .low, .high, .normal]
        for (id, priority) in zip(1...6 as ClosedRange<UInt64>, priorities) {
            queue.enqueue(id, host: "\(id % 2)", priority: priority, sequence: id)
        }
        #expect(drain(&queue) == [5, 2, 6, 3, 4, 1])
    }

    @Test func changedOrderAppliesToQueuedDownloads() {
        var queue = queue()
        for id in 1...4 as ClosedRange<UInt64> { queue.enqueue(id, host: "\(id % 2)", priority: .normal, sequence: id) }
        queue.order = .lifo
        #expect(drain(&queue) == [4, 3, 2, 1])
    }

    @Test func executionOrderCanChangeRepeatedlyWhileDownloadsRun() {
        var queue = queue()
        for id in 1...6 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        var order: [UInt64?] = []
        for _ in 0..<3 {
            for direction in [DownloadConfiguration.ExecutionOrder.lifo, .fifo] {
                queue.order = direction
                order.append(queue.next())
                if let last = order.last, let last { queue.release(last) }
            }
        }
        #expect(order == [6, 1, 5, 2, 4, 3])
    }

    @Test(arguments: [DownloadConfiguration.ExecutionOrder.fifo, .lifo])
    func higherPriorityDownloadStartsFirst(_ order: DownloadConfiguration.ExecutionOrder) {
        var queue = queue(order)
        let priorities: [DownloadPriority] = [.low, .veryHigh, .veryLow, .normal, .high]
        for (id, priority) in zip(1...6 as ClosedRange<UInt64>, priorities) {
            queue.enqueue(id, host: "\(id % 2)", priority: priority, sequence: id)
        }
        #expect(drain(&queue) == [2, 5, 4, 1, 3])
    }

    @Test func raisedPriorityKeepsOrderOfArrival() {
        var queue = queue()
        for id in 1...4 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        queue.reprioritize(4, to: .high)
        queue.reprioritize(2, to: .high)
        queue.reprioritize(1, to: .low)
        #expect(drain(&queue) == [2, 4, 3, 1])
    }

    @Test func runningDownloadsNeverExceedTheLimit() {
        var queue = queue(limit: 3)
        for id in 1...10 as ClosedRange<UInt64> { queue.enqueue(id, host: "\(id)", priority: .normal, sequence: id) }
        #expect((0..<5).compactMap { _ in queue.next() } == [1, 2, 3])
        queue.release(2)
        #expect((0..<5).compactMap { _ in queue.next() } == [4])
        #expect(queue.runningCount == 3 && queue.waitingCount == 6)
    }

    @Test func busyHostDoesNotDelayOtherHosts() {
        var queue = queue(limit: 4, limitPerHost: 1)
        for id in 1...3 as ClosedRange<UInt64> { queue.enqueue(id, host: "slow", priority: .high, sequence: id) }
        for id in 4...6 as ClosedRange<UInt64> { queue.enqueue(id, host: "host\(id)", priority: .normal, sequence: id) }
        #expect((0..<9).compactMap { _ in queue.next() } == [1, 4, 5, 6])
        queue.release(4)
        #expect(queue.next() == nil)
        queue.release(1)
        #expect(queue.next() == 2)
    }

    @Test func removedDownloadsNeverRun() {
        var queue = queue(limitPerHost: 1)
        for id in 1...4 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        queue.remove(1)
        queue.remove(3)
        #expect(drain(&queue) == [2, 4])
        #expect(queue.waitingCount == 0 && queue.runningCount == 0)
    }

    @Test func queuedDownloadsAreCountedByPriority() {
        var queue = queue()
        for id in 1...3 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .low, sequence: id) }
        queue.enqueue(4, host: "a", priority: .veryHigh, sequence: 4)
        queue.reprioritize(2, to: .normal)
        queue.remove(3)
        let counts = queue.waitingCounts
        #expect((0..<5).map { counts[$0] } == [0, 1, 1, 0, 1])
    }

    // MARK: Slots out of reach of low priorities

    @Test(arguments: [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4)])
    func lowPrioritiesUseAtMostHalfOfTheSlotsOrTheOnlyOne(_ limit: Int, reach: Int) {
        var queue = queue(limit: limit)
        for id in 1...9 as ClosedRange<UInt64> {
            queue.enqueue(id, host: "\(id)", priority: id % 2 == 0 ? .low : .veryLow, sequence: id)
        }
        #expect((0..<9).compactMap { _ in queue.next() }.count == reach)
        for id in 10...18 as ClosedRange<UInt64> { queue.enqueue(id, host: "b", priority: .normal, sequence: id) }
        #expect((0..<9).compactMap { _ in queue.next() }.count == limit - reach)
    }

    @Test func lowPrioritiesUseAtMostHalfOfTheSlotsOfAHost() {
        var queue = queue(limit: 100, limitPerHost: 4)
        for id in 1...9 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .low, sequence: id) }
        #expect((0..<9).compactMap { _ in queue.next() } == [1, 2])
        queue.enqueue(10, host: "a", priority: .normal, sequence: 10)
        #expect(queue.next() == 10)
        #expect(queue.next() == nil)
        queue.release(1)
        #expect(queue.next() == 3)
    }

    @Test func lowPriorityIsAdmittedAtOnceOnlyWithinItsShareOfSlots() {
        var queue = queue(limit: 2)
        let first = queue.admit(1, host: "a", priority: .low)
        let second = queue.admit(2, host: "b", priority: .veryLow)
        let normal = queue.admit(3, host: "c", priority: .normal)
        #expect((first, second, normal) == (true, false, true))
    }

    @Test func raisingRunningDownloadLetsNextLowPriorityOneStart() {
        var queue = queue(limit: 4, limitPerHost: 4)
        for id in 1...5 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .low, sequence: id) }
        #expect((0..<9).compactMap { _ in queue.next() } == [1, 2])
        queue.reprioritize(1, to: .high)
        #expect((0..<9).compactMap { _ in queue.next() } == [3])
        queue.reprioritize(1, to: .veryLow)
        queue.release(3)
        #expect(queue.next() == nil)
        queue.release(2)
        #expect(queue.next() == 4)
    }

    // MARK: Changes while downloads run

    @Test func changedConcurrencyLimitAppliesToFutureStarts() {
        var queue = queue(limit: 2)
        for id in 1...9 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        #expect((0..<9).compactMap { _ in queue.next() } == [1, 2])
        queue.limit = 4
        #expect((0..<9).compactMap { _ in queue.next() } == [3, 4])
        queue.limit = 1
        for id in 1...3 as ClosedRange<UInt64> {
            queue.release(id)
            #expect(queue.next() == nil)
        }
        queue.release(4)
        #expect((0..<9).compactMap { _ in queue.next() } == [5])
    }

    @Test func limitPerHostCanBeRaisedAndLowered() {
        var queue = queue(limit: 9, limitPerHost: 1)
        for id in 1...9 as ClosedRange<UInt64> {
            queue.enqueue(id, host: id % 2 == 0 ? "even" : "odd", priority: .normal, sequence: id)
        }
        #expect((0..<9).compactMap { _ in queue.next() } == [1, 2])
        queue.limitPerHost = 2
        #expect((0..<9).compactMap { _ in queue.next() } == [3, 4])
        queue.limitPerHost = 1
        queue.release(1)
        #expect(queue.next() == nil)
        queue.release(3)
        #expect((0..<9).compactMap { _ in queue.next() } == [5])
    }

    @Test func suspendedQueueStartsNothingUntilResumed() {
        var queue = queue(limit: 2)
        for id in 1...3 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        #expect(queue.next() == 1)
        queue.isSuspended = true
        #expect(queue.next() == nil)
        queue.release(1)
        let isAdmitted = queue.admit(4, host: "b", priority: .veryHigh)
        #expect(!isAdmitted && queue.next() == nil)
        queue.isSuspended = false
        #expect((0..<9).compactMap { _ in queue.next() } == [2, 3])
    }

    // MARK: Hosts whose downloads share a connection

    /// A queue in which 20 downloads of one host wait, and the number of them that can start.
    private func start(_ queue: inout DownloadQueue, _ priority: DownloadPriority = .normal) -> Int {
        for id in 1...20 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: priority, sequence: id) }
        return (0..<20).compactMap { _ in queue.next() }.count
    }

    @Test(arguments: [(8, 3, 3, 8), (2, 3, 2, 2), (50, 3, 3, 20)])
    func multiplexedHostIsLimitedOnlyByTheLimitForAllHosts(
        limitPerHost: Int, connectionsPerHost: Int, before: Int, after: Int
    ) {
        var queue = queue(limit: 100, limitPerHost: limitPerHost, connectionsPerHost: connectionsPerHost)
        #expect(start(&queue) == before)
        queue.learn("a", isMultiplexed: true)
        #expect((0..<20).compactMap { _ in queue.next() }.count == after - before)
    }

    @Test func multiplexedHostIsRememberedWhileNothingWaitsForIt() {
        var queue = queue(limit: 100, limitPerHost: 8, connectionsPerHost: 3)
        queue.learn("a", isMultiplexed: true)
        queue.learn("b", isMultiplexed: false)
        #expect(start(&queue) == 8)
    }

    @Test func hostThatStopsSharingConnectionsIsLimitedAgain() {
        var queue = queue(limit: 100, limitPerHost: 8, connectionsPerHost: 3)
        queue.learn("a", isMultiplexed: true)
        #expect(start(&queue) == 8)
        queue.learn("a", isMultiplexed: false)
        for id in 1...6 as ClosedRange<UInt64> {
            queue.release(id)
            #expect((queue.next() == nil) == (id < 6))
        }
    }

    @Test func lowPrioritiesUseAtMostHalfOfTheSlotsOfAMultiplexedHost() {
        var queue = queue(limit: 100, limitPerHost: 8, connectionsPerHost: 3)
        #expect(start(&queue, .low) == 2)
        queue.learn("a", isMultiplexed: true)
        #expect((0..<20).compactMap { _ in queue.next() }.count == 2)
    }

    @Test func connectionsPerHostCanBeRaisedAndLowered() {
        var queue = queue(limit: 100, limitPerHost: 8, connectionsPerHost: 3)
        #expect(start(&queue) == 3)
        queue.connectionsPerHost = 5
        #expect((0..<20).compactMap { _ in queue.next() } == [4, 5])
        queue.connectionsPerHost = 4
        queue.release(1)
        #expect(queue.next() == nil)
        queue.release(2)
        #expect(queue.next() == 6)
    }

    @Test func numberOfRememberedHostsIsBounded() {
        var hosts = MultiplexedHosts()
        for number in 0..<MultiplexedHosts.maximumCount { _ = hosts.learn("\(number)", isMultiplexed: true) }
        #expect(hosts.contains("0"))
        let changes = ["0", "another"].map { hosts.learn($0, isMultiplexed: true) }
        #expect(changes == [false, true])
        #expect(!hosts.contains("0") && hosts.contains("another"))
    }

    // MARK: Rates

    @Test func hostStartsABurstAndThenFollowsItsRateLimit() {
        var queue = queue(limit: 99)
        queue.rateLimit = RateLimit(requestsPerSecond: 2, burst: 3)
        for id in 1...6 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        queue.enqueue(7, host: "b", priority: .low, sequence: 7)
        #expect((0..<9).compactMap { _ in queue.next() } == [1, 2, 3, 7])
        #expect(queue.nextStart == .milliseconds(500))
        #expect(queue.rateLimitedCount == 3)
        queue.advance(to: .milliseconds(499))
        #expect(queue.next() == nil)
        queue.advance(to: .milliseconds(500))
        #expect((0..<9).compactMap { _ in queue.next() } == [4])
        #expect(queue.nextStart == .seconds(1))
        queue.advance(to: .seconds(60))
        #expect((0..<9).compactMap { _ in queue.next() } == [5, 6])
        #expect(queue.nextStart == nil)
        #expect(queue.rateLimitedCount == 0)
    }

    @Test func rateLimitCanChangeWhileDownloadsWait() {
        var queue = queue(limit: 99)
        queue.rateLimit = RateLimit(requestsPerSecond: 1)
        for id in 1...6 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: .normal, sequence: id) }
        #expect((0..<9).compactMap { _ in queue.next() } == [1])
        #expect(queue.rateLimitedCount == 5)
        queue.rateLimit = RateLimit(requestsPerSecond: 1, burst: 2)
        #expect(queue.rateLimitedCount == 0)
        #expect((0..<9).compactMap { _ in queue.next() } == [2, 3])
        queue.rateLimit = nil
        #expect((0..<9).compactMap { _ in queue.next() } == [4, 5, 6])
    }

    // MARK: Size

    @Test(.timeLimit(.minutes(1))) func queueHandlesHundredThousandDownloads() {
        var queue = queue(limit: 6, limitPerHost: 6)
        let count = 100_000 as UInt64
        for id in 1...count { queue.enqueue(id, host: "host\(id % 100)", priority: .normal, sequence: id) }
        for id in stride(from: 2, through: count, by: 2) { queue.reprioritize(id, to: id % 4 == 0 ? .high : .veryLow) }
        for id in stride(from: 3, through: count, by: 3) { queue.remove(id) }
        #expect(queue.waitingCount == 66_667)

        let left = (1...count).filter { $0 % 3 != 0 }
        let expected = left.filter { $0 % 4 == 0 } + left.filter { $0 % 2 == 1 } + left.filter { $0 % 4 == 2 }
        #expect(drain(&queue) == expected)
        #expect(queue.waitingCount == 0 && queue.runningCount == 0)
    }
}
