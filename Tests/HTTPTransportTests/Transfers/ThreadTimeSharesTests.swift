import Testing

@testable import HTTPTransport

struct ShareClockTests {
    private let start = MonotonicInstant.now

    /// A clock in a call that began `delay` after the round.
    private func clock(callAfter delay: Duration) -> ShareClock {
        var clock = ShareClock()
        clock.beginRound(at: start)
        clock.beginCall(at: start + delay)
        return clock
    }

    @Test func transportCallHasFiveMilliseconds() {
        let clock = clock(callAfter: .zero)
        #expect(!clock.isSpent(at: start + .microseconds(4_999)))
        #expect(clock.isSpent(at: start + .milliseconds(5)))
    }

    @Test func transportCallInALongRoundHasOneMillisecond() {
        let clock = clock(callAfter: .milliseconds(30))
        #expect(!clock.isSpent(at: start + .microseconds(30_999)))
        #expect(clock.isSpent(at: start + .milliseconds(31)))
    }

    @Test func transportCallEndsWithTheTimeOfItsRound() {
        let clock = clock(callAfter: .milliseconds(18))
        #expect(!clock.isSpent(at: start + .microseconds(19_999)))
        #expect(clock.isSpent(at: start + .milliseconds(20)))
    }
}
