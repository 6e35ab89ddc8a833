import SocketPolling
import Synchronization
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct CurlThreadTests {
    /// A driver that requests work and ends the thread in the same iteration, as when the last owner of a worker
    /// releases it meanwhile.
    private final class EndingDriver: CurlThreadDriver {
        let thread: CurlThread
        let workCount = Atomic(0)

        init(_ thread: CurlThread) {
            self.thread = thread
        }

        func perform(_ command: CurlWorker.Command) {}

        func prepareToWait() -> CurlThread.Wait {
            if workCount.load(ordering: .relaxed) == 0 {
                thread.perform { [self] in workCount.add(1, ordering: .relaxed) }
                thread.end()
            }
            return CurlThread.Wait(timeout: nil, hasTransfers: false)
        }

        func handle(eventCount: Int) {}
    }

    @Test func workRequestedBeforeTheThreadEndsIsPerformed() async throws {
        let poller = EventPoller()
        #expect(poller.open())
        let thread = CurlThread(poller: poller)
        let driver = EndingDriver(thread)
        let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
        try thread.start(driver: driver, with: systemThreads(named: "test")) { continuation.finish() }
        for await _ in ended {}
        #expect(driver.workCount.load(ordering: .relaxed) == 1)
    }
}
