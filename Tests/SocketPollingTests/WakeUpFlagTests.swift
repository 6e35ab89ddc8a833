import Testing
import Threading

@testable import SocketPolling

@Suite(.timeLimit(.minutes(1)))
struct WakeUpFlagTests {
    private let flag = WakeUpFlag()

    @Test func flagRaisedEarlierEndsTheNextWaitOnce() {
        flag.raise()
        flag.raise()
        flag.wait(timeout: nil)
        let elapsed = ContinuousClock().measure { flag.wait(timeout: .milliseconds(5)) }
        #expect(elapsed >= .milliseconds(5))
    }

    @Test func flagRaisedDuringAWaitEndsIt() throws {
        let flag = flag
        try startThread(named: "test-waker") { flag.raise() }
        let elapsed = ContinuousClock().measure { flag.wait(timeout: .seconds(20)) }
        #expect(elapsed < .seconds(20))
    }

    @Test func flagDoesNotWaitForAPastTimeout() {
        let elapsed = ContinuousClock().measure { flag.wait(timeout: .seconds(-20)) }
        #expect(elapsed < .seconds(20))
    }
}
