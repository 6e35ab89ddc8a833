import SocketPolling
import Synchronization
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct TransferThreadTests {
    /// A driver that requests work and ends the thread in the same iteration, as when the last owner of a worker
    /// releases it meanwhile.
    private final class EndingDriver: TransferThreadDriver {
        let thread: TransferThread
        let workCount = Atomic(0)

        init(_ thread: TransferThread) {
            self.thread = thread
        }

        func perform(_ command: TransferCommand) {}

        func prepareToWait() -> TransferThread.Wait {
            if workCount.load(ordering: .relaxed) == 0 {
                thread.perform { [self] in workCount.add(1, ordering: .relaxed) }
                thread.end()
            }
            return TransferThread.Wait(timeout: nil, hasTransfers: false)
        }

        func handle(eventCount: Int) {}
    }

    @Test func workRequestedBeforeTheThreadEndsIsPerformed() async throws {
        let poller = EventPoller()
        #expect(poller.open())
        let thread = TransferThread(poller: poller)
        let driver = EndingDriver(thread)
        let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
        try thread.start(driver: driver, with: systemThreads(named: "test")) { continuation.finish() }
        for await _ in ended {}
        #expect(driver.workCount.load(ordering: .relaxed) == 1)
    }
}
