import Testing
import Threading

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct AlarmTests {
    private let clock = ManualClock()

    private func time(_ milliseconds: Int) -> ManualClock.Instant {
        ManualClock.Instant(offset: .milliseconds(milliseconds))
    }

    @Test func alarmCallsBackAtItsTime() async throws {
        let rang = OneShot<Void>()
        let alarm = Alarm(clock: clock) { rang.resolve(.success(())) }
        alarm.set(time(100))
        #expect(await clock.nextSleep() == time(100))
        clock.advance(by: .milliseconds(100))
        try await rang.value
        withExtendedLifetime(alarm) {}
    }

    @Test func newAlarmTimeReplacesTheOld() async throws {
        let rang = OneShot<Void>()
        let alarm = Alarm(clock: clock) { rang.resolve(.success(())) }
        alarm.set(time(100))
        _ = await clock.nextSleep()
        alarm.set(time(50))
        await clock.sleeps(until: .milliseconds(50))
        clock.advance(by: .milliseconds(50))
        try await rang.value
        withExtendedLifetime(alarm) {}
    }

    @Test func releasingAnAlarmCancelsIt() async throws {
        final class Probe: Sendable {}
        weak let probe: Probe?
        do {
            let strong = Probe()
            probe = strong
            let alarm = Alarm(clock: clock) { withExtendedLifetime(strong) {} }
            alarm.set(time(100))
            _ = await clock.nextSleep()
            withExtendedLifetime(alarm) {}
        }
        while probe != nil, !Task.isCancelled { await Task.yield() }
        #expect(probe == nil)
    }
}
