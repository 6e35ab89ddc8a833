import TestSupport
import Testing

@testable import AsyncWebImage

struct DownloadQueueRandomTests {
    /// Compares the queue with a plain list that is searched from the front, for thousands of random events.
    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func queueMatchesPlainListForRandomEvents(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var plain = PlainQueue()
        plain.burst = seed % 2 == 0 ? 2 : nil
        var queue = DownloadQueue(
            limit: plain.limit, limitPerHost: plain.limitPerHost, connectionsPerHost: plain.connectionsPerHost,
            order: plain.order)
        queue.rateLimit = plain.burst.map { RateLimit(requestsPerSecond: 0.25, burst: $0) }
        var nextID: UInt64 = 0

        for _ in 0..<8_000 {
            switch Int.random(in: 0..<19, using: &random) {
            case 0...3:
                nextID += 1
                let priority = DownloadPriority.allCases.randomElement(using: &random) ?? .normal
                let item = PlainQueue.Item(
                    id: nextID, host: "\(Int.random(in: 0..<4, using: &random))", priority: priority)
                plain.waiting.append(item)
                queue.enqueue(item.id, host: item.host, priority: item.priority, sequence: item.id)
            case 4, 5:
                guard let index = plain.waiting.indices.randomElement(using: &random) else { continue }
                queue.remove(plain.waiting.remove(at: index).id)
            case 6, 7:
                let priority = DownloadPriority.allCases.randomElement(using: &random) ?? .normal
                guard let index = plain.waiting.indices.randomElement(using: &random) else { continue }
                plain.waiting[index].priority = priority
                queue.reprioritize(plain.waiting[index].id, to: priority)
            case 8:
                let priority = DownloadPriority.allCases.randomElement(using: &random) ?? .normal
                guard let index = plain.running.indices.randomElement(using: &random) else { continue }
                plain.running[index].priority = priority
                queue.reprioritize(plain.running[index].id, to: priority)
            case 9...11:
                guard let index = plain.running.indices.randomElement(using: &random) else { continue }
                queue.release(plain.running.remove(at: index).id)
            case 12:
                plain.advance(by: Int.random(in: 0..<6, using: &random))
                queue.advance(to: .seconds(plain.time))
            case 13:
                switch Int.random(in: 0..<9, using: &random) {
                case 0: plain.limit = Int.random(in: 1..<7, using: &random)
                case 1: plain.limitPerHost = Int.random(in: 1..<5, using: &random)
                case 2: plain.connectionsPerHost = Int.random(in: 1..<5, using: &random)
                case 3: plain.order = plain.order == .fifo ? .lifo : .fifo
                default: plain.isSuspended = Int.random(in: 0..<4, using: &random) == 0
                }
                queue.limit = plain.limit
                queue.limitPerHost = plain.limitPerHost
                queue.connectionsPerHost = plain.connectionsPerHost
                queue.order = plain.order
                queue.isSuspended = plain.isSuspended
            case 14:
                let (host, isMultiplexed) = ("\(Int.random(in: 0..<4, using: &random))", Bool.random(using: &random))
                if isMultiplexed { plain.multiplexed.insert(host) } else { plain.multiplexed.remove(host) }
                queue.learn(host, isMultiplexed: isMultiplexed)
            default:
                let expected = plain.next()
                #expect(queue.next() == expected)
                guard expected == nil, let start = plain.nextStart else { continue }
                // An earlier time is harmless: the caller then queries the queue again.
                #expect((queue.nextStart ?? .seconds(Int.max)) <= .seconds(start))
            }
            #expect(queue.waitingCount == plain.waiting.count && queue.runningCount == plain.running.count)
        }
    }
}

/// The most direct implementation of the same rules.
private struct PlainQueue {
    struct Item {
        let id: UInt64
        let host: String
        var priority: DownloadPriority
    }

    var limit = 4
    var limitPerHost = 4
    var connectionsPerHost = 2
    var multiplexed: Set<String> = []
    var order = DownloadConfiguration.ExecutionOrder.fifo
    var isSuspended = false
    /// The burst of a rate limit of one start per host every four seconds; `nil` for no limit.
    var burst: Int?
    var waiting: [Item] = []
    var running: [Item] = []
    private(set) var time = 0
    /// The seconds that each host has saved; one start costs four of them.
    private var saved: [String: Int] = [:]

    mutating func advance(by seconds: Int) {
        time += seconds
        for host in saved.keys { saved[host] = min(4 * (burst ?? 0), (saved[host] ?? 0) + seconds) }
    }

    mutating func next() -> UInt64? {
        let best = startable.filter { isInRate($0.host) }.max { left, right in
            if left.priority != right.priority { return left.priority < right.priority }
            return order == .fifo ? left.id > right.id : left.id < right.id
        }
        guard let best else { return nil }
        waiting.removeAll { $0.id == best.id }
        running.append(best)
        if burst != nil { saved[best.host] = savings(of: best.host) - 4 }
        return best.id
    }

    /// The time at which the rate limit lets the next waiting item start.
    var nextStart: Int? {
        startable.map { time + max(0, 4 - savings(of: $0.host)) }.min()
    }

    /// The waiting items that have a free slot.
    private var startable: [Item] {
        guard !isSuspended, running.count < limit else { return [] }
        return waiting.filter { item in
            let siblings = running.filter { $0.host == item.host }
            let limitPerHost =
                multiplexed.contains(item.host) ? limitPerHost : min(limitPerHost, connectionsPerHost)
            guard siblings.count < limitPerHost else { return false }
            return item.priority > .low
                || running.count { $0.priority <= .low } < (limit + 1) / 2
                    && siblings.count { $0.priority <= .low } < (limitPerHost + 1) / 2
        }
    }

    private func savings(of host: String) -> Int { saved[host] ?? 4 * (burst ?? 0) }

    private func isInRate(_ host: String) -> Bool { burst == nil || savings(of: host) >= 4 }
}
