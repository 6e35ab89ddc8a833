import TestSupport
import Testing

@testable import ResponseCache

@Suite(.timeLimit(.minutes(1)))
struct CacheThreadsTests {
    @Test func cooperativePoolDoesTheWorkUntilAThreadCanBeStarted() async {
        let threads = CacheThreads(startThread: limitedThreads(named: "test-cache") { $0 > 2 })
        defer { threads.close() }
        #expect(await threads.run { ProcessState.threadName } != "test-cache")
        #expect(await threads.run(to: .long) { ProcessState.threadName } != "test-cache")
        #expect(await threads.run { ProcessState.threadName } == "test-cache")
        #expect(await threads.run(to: .long) { ProcessState.threadName } == "test-cache")
        await threads.finish()
    }

    @Test func oneThreadDoesAllWorkIfNoOtherCanBeStarted() async {
        let threads = CacheThreads(startThread: limitedThreads(named: "test-cache") { $0 == 1 })
        defer { threads.close() }
        for line in [CacheThreads.Line.short, .long, .short] {
            #expect(await threads.run(to: line) { ProcessState.threadName } == "test-cache")
        }
    }

    @Test func finishWaitsForWorkThatThePoolDoes() async {
        let threads = CacheThreads(startThread: limitedThreads(named: "test-cache") { _ in false })
        let count = Tally()
        for _ in 0..<3 { threads.append { count.add() } }
        await threads.finish()
        #expect(count.count == 3)
    }
}
