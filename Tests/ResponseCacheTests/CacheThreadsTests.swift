import TestSupport
import Testing

@testable import ResponseCache

@Suite(.timeLimit(.minutes(1)))
struct CacheThreadsTests {
    @Test func finishWaitsForWorkThatThePoolDoes() async {
        let threads = CacheThreads(startThread: limitedThreads(named: "test-cache") { _ in false })
        let count = Tally()
        for _ in 0..<3 { threads.append { count.add() } }
        await threads.finish()
        #expect(count.count == 3)
    }
}
