import Testing

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct StopwatchTests {
    @Test func stopwatchStartsAtItsCreation() {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let stopwatch = Stopwatch(clock)
        clock.advance(by: .seconds(3))
        #expect(stopwatch.now.elapsed == .seconds(3))
    }

    @Test func stopwatchSleepsOnItsClock() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        let stopwatch = Stopwatch(clock)
        async let slept: Void = stopwatch.sleep(until: stopwatch.now.advanced(by: .seconds(2)), tolerance: nil)
        #expect(await clock.nextSleep() == ManualClock.Instant(offset: .seconds(7)))
        clock.advance(by: .seconds(2))
        try await slept
    }
}
