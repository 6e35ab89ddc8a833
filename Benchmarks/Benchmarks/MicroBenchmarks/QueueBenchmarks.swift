@testable import AsyncWebImage
import Benchmark

/// The cost of one download in the queue: adding it, then starting and ending the next one.
enum QueueBenchmarks {
    static func register() {
        for waiting in [1, 1_000, 100_000] as [UInt64] { pass(waiting: waiting) }
    }

    /// Measures while this constant number of downloads, from 1,000 hosts in turn, is waiting.
    private static func pass(waiting: UInt64) {
        let hosts = (0..<1_000).map { "images-\($0).example.com" }
        var queue = DownloadQueue(limit: 6, limitPerHost: 6, order: .fifo)
        var last: UInt64 = 0
        func enqueue() {
            last += 1
            queue.enqueue(last, host: hosts[Int(last) % hosts.count], priority: .normal, sequence: last)
        }

        Benchmark("Queue_pass_\(waiting)_waiting", configuration: .thousandSteps) { benchmark in
            for _ in benchmark.scaledIterations {
                enqueue()
                guard let next = queue.next() else { return benchmark.error("nothing was next") }
                queue.release(next)
            }
        } setup: {
            while last < waiting { enqueue() }
        }
    }
}
