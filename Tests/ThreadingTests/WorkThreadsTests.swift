import TestSupport
import Testing
import Threading

@Suite(.timeLimit(.minutes(1)))
struct WorkThreadsTests {
    private typealias Threads = WorkThreads<Step>

    private func threads(
        _ count: Int, shortCount: Int = 0, startedIf isStarted: @escaping @Sendable (_ attempt: Int) -> Bool
    ) -> Threads {
        Threads(
            count: count, shortCount: shortCount,
            startThread: limitedThreads(named: "test-work", startedIf: isStarted))
    }

    /// Returns the name of the thread that does work on a lane.
    private func threadName(_ threads: Threads, _ lane: WorkLane = .short) async -> String {
        await withCheckedContinuation { continuation in
            threads.append(Step { continuation.resume(returning: ProcessState.threadName) }, to: lane)
        }
    }

    @Test func threadsStartWithTheFirstWork() async {
        let attempts = Locked(0)
        let threads = threads(2, shortCount: 1) { attempt in
            attempts.withLock { $0 = attempt }
            return true
        }
        #expect(attempts.withLock { $0 } == 0)
        for _ in 0..<3 { #expect(await threadName(threads) == "test-work") }
        #expect(attempts.withLock { $0 } == 3)
    }

    @Test func cooperativePoolDoesTheWorkUntilAThreadCanBeStarted() async {
        let threads = threads(2) { $0 > 2 }
        #expect(await threadName(threads) != "test-work")
        #expect(await threadName(threads, .long) != "test-work")
        #expect(await threadName(threads) == "test-work")
        #expect(await threadName(threads, .long) == "test-work")
    }

    @Test func oneThreadDoesAllWorkIfNoOtherCanBeStarted() async {
        let threads = threads(2, shortCount: 2) { $0 == 1 }
        for lane in [WorkLane.short, .long, .short] { #expect(await threadName(threads, lane) == "test-work") }
    }

    @Test func shortWorkHasAThreadThatTakesNoLongWork() async {
        let threads = threads(1, shortCount: 1) { _ in true }
        let end = OneTimeEvent()
        for _ in 0..<2 { threads.append(Step { end.wait() }, to: .long) }
        #expect(await threadName(threads) == "test-work")
        for _ in 0..<2 { end.happen() }
    }

    /// The work that is left is done, and the queue of the threads released.
    @Test func threadsEndWhenNothingHoldsThem() async {
        let (ends, continuation) = AsyncStream<Void>.makeStream()
        let done = Tally()
        do {
            let threads = Threads(count: 2) { body throws(ThreadFailure) in
                try startThread(named: "test-work") {
                    body()
                    continuation.yield()
                }
            }
            for _ in 0..<100 { threads.append(Step { done.add() }) }
        }
        var endCount = 0
        for await _ in ends {
            endCount += 1
            if endCount == 2 { break }
        }
        #expect(done.count == 100)
    }
}

private struct Step: ThreadWork {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    func perform() { body() }
}
