import Testing

@testable import HTTPTransport

/// Waits of a thread that polls before it sleeps; time passes only in the sleeps and polls of a test.
struct BusyWaitTests {
    private static let longSleep = BusyWait.shortSleep + .microseconds(1)

    @Test func firstWaitSleepsAtOnce() {
        #expect(outcomes(of: [.sleep(.zero)]) == [.slept(afterPolls: 0)])
    }

    @Test func waitAfterAShortSleepFindsWorkWithoutSleeping() {
        #expect(
            outcomes(of: [.sleep(BusyWait.shortSleep), .findWork(poll: 3)]) == [
                .slept(afterPolls: 0), .found(afterPolls: 3),
            ])
    }

    @Test func waitsStayBusyWhileTheyFindWork() {
        #expect(
            outcomes(of: [.sleep(.zero), .findWork(poll: 1), .findWork(poll: 2), .findWork(poll: 1)]) == [
                .slept(afterPolls: 0), .found(afterPolls: 1), .found(afterPolls: 2), .found(afterPolls: 1),
            ])
    }

    @Test func waitAfterALongSleepSleepsAtOnce() {
        #expect(
            outcomes(of: [.sleep(Self.longSleep), .sleep(.zero)]) == [.slept(afterPolls: 0), .slept(afterPolls: 0)])
    }

    @Test func waitInVainSleepsAfterTheLimitAndTheNextOneAtOnce() {
        // A poll takes ten microseconds.
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(Self.longSleep), .sleep(.zero)]) == [
                .slept(afterPolls: 0), .slept(afterPolls: 5), .slept(afterPolls: 0),
            ])
    }

    @Test func waitInVainThatIsFollowedByAShortSleepStaysBusy() {
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(.zero), .findWork(poll: 1)]) == [
                .slept(afterPolls: 0), .slept(afterPolls: 5), .found(afterPolls: 1),
            ])
    }

    @Test func waitWithAShorterTimeoutThanTheLimitSleepsAtOnce() {
        let timeout = BusyWait.pollingTime - .microseconds(1)
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(.zero)], timeout: timeout) == [
                .slept(afterPolls: 0), .slept(afterPolls: 0),
            ])
    }

    @Test func waitWithoutTimeDoesNotMakeTheNextOneBusy() {
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(.zero)], timeout: .zero) == [
                .slept(afterPolls: 0), .slept(afterPolls: 0),
            ])
    }

    @Test func waitsOnOneProcessorSleepAtOnce() {
        #expect(
            outcomes(of: [.sleep(.zero), .sleep(.zero)], isAllowed: false) == [
                .slept(afterPolls: 0), .slept(afterPolls: 0),
            ])
    }
}

/// An event of a wait: a poll, by its number, finds work, or a sleep takes this time.
private enum Event {
    case findWork(poll: Int)
    case sleep(Duration)
}

private enum Outcome: Equatable {
    case found(afterPolls: Int)
    case slept(afterPolls: Int)
}

/// Returns the outcomes of waits one after the other, where each poll takes ten microseconds.
private func outcomes(of events: [Event], timeout: Duration? = nil, isAllowed: Bool = true) -> [Outcome] {
    var time = MonotonicInstant.now
    return withoutActuallyEscaping({ time }) { now in
        var wait = BusyWait(isAllowed: isAllowed, now: now)
        return events.map { event in
            var polls = 0
            return wait.result(within: timeout) {
                polls += 1
                time = time + .microseconds(10)
                if case .findWork(polls) = event { return .found(afterPolls: polls) }
                return nil
            } sleep: {
                if case .sleep(let duration) = event { time = time + duration }
                return .slept(afterPolls: polls)
            }
        }
    }
}
