import Testing

@testable import HTTPTransport

struct TransferClockTests {
    private let start = MonotonicInstant.now
    private let deadlines = Deadlines(
        lookup: .milliseconds(500), connect: .seconds(1), firstByte: .seconds(2), idle: .seconds(3), total: .seconds(10)
    )

    private func expect(_ clock: TransferClock, _ offset: Duration, _ kind: Deadlines.Kind) {
        #expect(clock.next?.instant == start + offset)
        #expect(clock.next?.kind == kind)
    }

    @Test func eachTransferPhaseHasItsDeadline() {
        var clock = TransferClock(deadlines, now: start)
        expect(clock, .milliseconds(500), .lookup)
        clock.endResolving()
        expect(clock, .seconds(1), .connect)
        clock.enter(.waitingForFirstByte, now: start + .milliseconds(500))
        expect(clock, .milliseconds(2_500), .firstByte)
        clock.enter(.receiving, now: start + .seconds(2))
        expect(clock, .seconds(5), .idle)
        clock.enter(.receiving, now: start + .seconds(4))
        expect(clock, .seconds(7), .idle)
        clock.enter(.paused, now: start + .seconds(5))
        expect(clock, .seconds(10), .total)
    }

    @Test func discardedBodiesHaveAShortDeadline() {
        var clock = TransferClock(Deadlines(idle: nil, total: .seconds(1)), now: start)
        clock.enter(.discarding, now: start)
        expect(clock, .milliseconds(500), .idle)
        clock.enter(.discarding, now: start + .milliseconds(700))
        expect(clock, .seconds(1), .total)
    }

    @Test func transferClockCountsLookupAsConnecting() {
        var clock = TransferClock(Deadlines(lookup: .seconds(9), connect: .seconds(1)), now: start)
        expect(clock, .seconds(1), .connect)
        clock.enter(.resolving, now: start + .milliseconds(200))
        expect(clock, .milliseconds(1_200), .connect)
    }

    @Test func totalDeadlineAppliesIfItIsEarlier() {
        var clock = TransferClock(deadlines, now: start)
        clock.enter(.receiving, now: start + .seconds(8))
        expect(clock, .seconds(10), .total)
    }

    @Test func shortestDeadlineIsIndependentOfThePhase() {
        #expect(TransferClock(deadlines, now: start).shortest == .milliseconds(500))
        let deadlines = Deadlines(lookup: nil, connect: nil, firstByte: .seconds(9), idle: nil, total: .seconds(8))
        #expect(TransferClock(deadlines, now: start).shortest == .seconds(8))
    }

    @Test func transferWithoutDeadlinesNeverTimesOut() {
        var clock = TransferClock(
            Deadlines(lookup: nil, connect: nil, firstByte: nil, idle: nil, total: nil), now: start)
        #expect(clock.next == nil && clock.shortest == nil)
        clock.enter(.receiving, now: start)
        #expect(clock.next == nil)
    }
}
