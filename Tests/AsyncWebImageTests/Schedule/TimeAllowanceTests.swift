import Testing

@testable import AsyncWebImage

struct TimeAllowanceTests {
    private func second(_ count: Int) -> Stopwatch.Instant { Stopwatch.Instant(elapsed: .seconds(count)) }

    @Test func timeAllowanceRunsFromTheFirstStart() {
        var time = TimeAllowance(.seconds(60))
        #expect(time.end == nil && time.left(at: second(1_000)) == .seconds(60))
        time.start(at: second(10))
        time.start(at: second(30))
        #expect(time.end == second(70))
        #expect(time.left(at: second(50)) == .seconds(20))
        #expect(time.left(at: second(71)) == .seconds(-1))
    }

    @Test func timeAllowanceStopsDuringAPause() {
        var time = TimeAllowance(.seconds(60))
        time.start(at: second(0))
        time.pause(at: second(10))
        #expect(time.end == nil && time.left(at: second(1_000)) == .seconds(50))
        time.start(at: second(1_000))
        #expect(time.end == second(1_050))
    }

    @Test func timeAllowanceWithoutLimitNeverExpires() {
        var time = TimeAllowance(nil)
        time.start(at: second(0))
        time.pause(at: second(1))
        #expect(time.end == nil && time.left(at: second(2)) == nil)
    }

    @Test func hugeTimeAllowanceIsClampedToAHundredYears() {
        var time = TimeAllowance(.seconds(Int64.max))
        time.start(at: second(0))
        #expect(time.left(at: second(0)) == Stopwatch.longest)
    }
}
