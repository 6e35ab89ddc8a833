import Testing
import Threading

@testable import SocketPolling

@Suite(.timeLimit(.minutes(1)))
struct WakeUpFlagTests {
    private let flag = WakeUpFlag()

    @Test func raisedBeforeItEndsTheNextWaitOnce() {
        flag.raise()
        flag.raise()
        flag.wait(timeout: nil)
        let elapsed = ContinuousClock().measure { flag.wait(timeout: .milliseconds(5)) }
        #expect(elapsed >= .milliseconds(5))
    }

    @Test func raisedMeanwhileItEndsTheWait() throws {
        let flag = flag
        try startThread(named: "test-waker") { flag.raise() }
        let elapsed = ContinuousClock().measure { flag.wait(timeout: .seconds(20)) }
        #expect(elapsed < .seconds(20))
    }

    @Test func aTimeoutThatHasPassedDoesNotWait() {
        let elapsed = ContinuousClock().measure { flag.wait(timeout: .seconds(-20)) }
        #expect(elapsed < .seconds(20))
    }
}
