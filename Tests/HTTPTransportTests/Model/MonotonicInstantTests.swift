import Testing

@testable import HTTPTransport

struct MonotonicInstantTests {
    @Test func timeAdvancesAsThatOfTheContinuousClock() {
        let first = ContinuousClock.now
        let start = MonotonicInstant.now
        let second = ContinuousClock.now
        while second.duration(to: .now) < .milliseconds(2) {}
        let third = ContinuousClock.now
        let duration = start.duration(to: .now)
        #expect(duration >= second.duration(to: third))
        #expect(duration <= first.duration(to: .now))
    }

    @Test func instantsAreOrderedAndAdvanced() {
        let instant = MonotonicInstant.now
        let later = instant + .nanoseconds(1)
        #expect(instant < later && later == instant.advanced(by: .nanoseconds(1)))
        #expect(instant.duration(to: later) == .nanoseconds(1))
        #expect(later.duration(to: instant) == .nanoseconds(-1))
    }
}
