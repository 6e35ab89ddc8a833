import Testing

@testable import HTTPTransport

/// Waits of a thread that looks for work before it sleeps; time passes only in the sleeps and looks of a test.
struct BusyWaitTests {
    private static let longSleep = BusyWait.shortSleep + .microseconds(1)

    @Test func firstWaitSleepsAtOnce() {
        #expect(outcomes(of: [.sleep(.zero)]) == [.slept(afterLooks: 0)])
    }

    @Test func waitAfterAShortSleepFindsWorkWithoutSleeping() {
        #expect(
            outcomes(of: [.sleep(BusyWait.shortSleep), .findWork(look: 3)]) == [
                .slept(afterLooks: 0), .found(afterLooks: 3),
            ])
    }

    @Test func waitsStayBusyWhileTheyFindWork() {
        #expect(
            outcomes(of: [.sleep(.zero), .findWork(look: 1), .findWork(look: 2), .findWork(look: 1)]) == [
                .slept(afterLooks: 0), .found(afterLooks: 1), .found(afterLooks: 2), .found(afterLooks: 1),
            ])
    }

    @Test func waitAfterALongSleepSleepsAtOnce() {
        #expect(
            outcomes(of: [.sleep(Self.longSleep), .sleep(.zero)]) == [.slept(afterLooks: 0), .slept(afterLooks: 0)])
    }

    @Test func waitInVainSleepsAfterTheLimitAndTheNextOneAtOnce() {
        // A look takes ten microseconds.
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(Self.longSleep), .sleep(.zero)]) == [
                .slept(afterLooks: 0), .slept(afterLooks: 5), .slept(afterLooks: 0),
            ])
    }

    @Test func waitInVainThatIsFollowedByAShortSleepStaysBusy() {
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(.zero), .findWork(look: 1)]) == [
                .slept(afterLooks: 0), .slept(afterLooks: 5), .found(afterLooks: 1),
            ])
    }

    @Test func waitWithAShorterTimeoutThanTheLimitSleepsAtOnce() {
        let timeout = BusyWait.limit - .microseconds(1)
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(.zero)], timeout: timeout) == [
                .slept(afterLooks: 0), .slept(afterLooks: 0),
            ])
    }

    @Test func waitsOnOneProcessorSleepAtOnce() {
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(.zero)], isAllowed: false) == [
                .slept(afterLooks: 0), .slept(afterLooks: 0),
            ])
    }
}

/// What happens in a wait: work is found by the look of this number, or by none, and a sleep takes this time.
private enum Event {
    case findWork(look: Int)
    case sleep(Duration)
}

private enum Outcome: Equatable {
    case found(afterLooks: Int)
    case slept(afterLooks: Int)
}

/// Returns the outcomes of waits one after the other, where each look takes ten microseconds.
private func outcomes(of events: [Event], timeout: Duration? = nil, isAllowed: Bool = true) -> [Outcome] {
    var time = ContinuousClock.now
    return withoutActuallyEscaping({ time }) { now in
        var wait = BusyWait(isAllowed: isAllowed, now: now)
        return events.map { event in
            var looks = 0
            return wait.result(within: timeout) {
                looks += 1
                time += .microseconds(10)
                if case .findWork(looks) = event { return .found(afterLooks: looks) }
                return nil
            } sleep: {
                if case .sleep(let duration) = event { time += duration }
                return .slept(afterLooks: looks)
            }
        }
    }
}
