import HTTPTransport
import Testing

@testable import AsyncWebImage

/// Requests that a request modifier defers, as a table of events and the resulting actions.
struct DownloadMachineDeferralTests {
    @Test func deferredRequestGivesItsSlotToOthersAndGetsTheNextOne() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.run(.join(.test(2, "b")), .join(.test(3, "c")))
        let deferred = ["await the end of the deferral of 1", "transfer 2 attempt 1"]
        script.expect(.transferEnded(1, .deferred(.test)), deferred)
        #expect(script.machine.deferredCount == 1 && script.machine.waitingCount == 1)
        script.expect(.deferralEnded(1), [])
        #expect(script.machine.deferredCount == 0 && script.machine.waitingCount == 2)
        #expect(script.machine.waitingCount(of: .normal) == 2)
        // Not counted as an attempt, and before the third, which has not had a slot.
        script.expect(.transferEnded(2, .complete), ["receive 2", "close 2", "transfer 1 attempt 1"])
        script.expect(.transferEnded(1, .complete), ["receive 1", "close 1", "transfer 3 attempt 1"])
        script.expect(.transferEnded(3, .complete), ["receive 3", "close 3"])
        script.expectNothingLeft()
    }

    @Test func deferralDoesNotCountTowardTheTotalDeadline() {
        var script = MachineScript { $0.deadlines.total = .seconds(60) }
        script.run(.join(.test(1)))
        script.time.elapsed = .seconds(20)
        script.expect(.transferEnded(1, .deferred(.test)), ["await the end of the deferral of 1"])
        script.time.elapsed = .seconds(500)
        script.expect(.deadlinePassed, [])
        script.expect(
            .deferralEnded(1), ["alarm deadline at 540.0 seconds", "transfer 1 attempt 1 within 40.0 seconds"])
    }

    @Test func deferredRetryContinuesTheBody() throws {
        var script = MachineScript()
        script.run(.join(.test(1)), .transferEnded(1, .failed(.passing)))
        script.run(.resumable(1, try #require(.test(500))))
        script.expect(.backoffElapsed(1), ["transfer 1 attempt 2 from 500"])
        script.expect(.transferEnded(1, .deferred(.test)), ["await the end of the deferral of 1"])
        script.expect(.resumable(1, try #require(.test(500))), [])
        script.expect(.deferralEnded(1), ["transfer 1 attempt 2 from 500"])
    }

    @Test func deferredStartDoesNotCountTowardTheRateOfAHost() {
        var script = MachineScript {
            $0.maximumConcurrentDownloads = 2
            $0.rateLimitPerHost = RateLimit(requestsPerSecond: 1)
        }
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.transferEnded(1, .deferred(.test)), ["await the end of the deferral of 1"])
        script.expect(.join(.test(2, "b")), ["open 2 for 2", "transfer 2 attempt 1"])
        script.expect(.deferralEnded(1), ["alarm rate at 1.0 seconds"])
        script.expect(.join(.test(3, "c")), ["open 3 for 3", "alarm rate at 1.0 seconds"])
        script.time.elapsed = .seconds(1)
        script.expect(.memory(hasCapacity: true), ["transfer 1 attempt 1"])
    }

    @Test func aDownloadMayStartWithoutMemoryIfAllOthersAreDeferred() {
        var script = MachineScript()
        script.run(.join(.test(1)), .transferEnded(1, .deferred(.test)), .memory(hasCapacity: false))
        script.expect(.join(.test(2, "b")), ["open 2 for 2", "transfer 2 attempt 1"])
    }

    @Test func newDownloadDoesNotOvertakeOneThatReturns() {
        var script = MachineScript()
        script.run(.join(.test(1)), .transferEnded(1, .deferred(.test)), .join(.test(2, "b")), .deferralEnded(1))
        #expect(
            script.tell(.transferEnded(2, .complete), .join(.test(3, "c")))
                == ["receive 2", "close 2", "open 3 for 3", "transfer 1 attempt 1"])
    }

    @Test func returningDownloadWhoseHostHasNoFreeSlotDoesNotDelayThoseOfOtherHosts() {
        var script = MachineScript {
            $0.maximumConcurrentDownloads = 2
            $0.maximumConcurrentDownloadsPerHost = 1
        }
        script.run(.join(.test(1)), .transferEnded(1, .deferred(.test)))
        script.run(.join(.test(2, host: "b.example")), .schedule(hasMemory: true))
        script.run(.transferEnded(2, .deferred(.test)))
        script.expect(.join(.test(3, "c")), ["open 3 for 3", "transfer 3 attempt 1"])
        #expect(script.tell(.deferralEnded(1), .deferralEnded(2)) == ["transfer 2 attempt 1"])
        script.expect(.transferEnded(3, .complete), ["receive 3", "close 3", "transfer 1 attempt 1"])
    }

    @Test func keptBodyOfADeferredRequestIsKeptAgain() throws {
        var script = MachineScript()
        script.run(.keep(try #require(.test(20_000, isStored: true)), for: Subscriber.test(1).key))
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1 from 20000"])
        script.run(.transferEnded(1, .deferred(.test)), .resumable(1, try #require(.test(20_000, isStored: true))))
        script.expect(.leave(1), ["detach 1 from 1", "close 1 early, keeping"])
    }

    @Test func suspendedDownloadsDoNotReturnFromADeferral() {
        var script = MachineScript()
        script.run(.join(.test(1)), .transferEnded(1, .deferred(.test)), .suspend)
        script.expect(.deferralEnded(1), [])
        script.expect(.resume, ["transfer 1 attempt 1"])
    }

    @Test func cancelingEndsADeferral() {
        var script = MachineScript()
        script.run(.join(.test(1)), .transferEnded(1, .deferred(.test)))
        script.expect(.leave(1), ["detach 1 from 1", "close 1 early"])
        script.expect(.deferralEnded(1), [])
        script.run(.join(.test(2)), .transferEnded(2, .deferred(.test)), .suspend, .deferralEnded(2))
        script.expect(.leave(2), ["detach 2 from 2", "close 2 early"])
        script.expect(.resume, [])
        script.expectNothingLeft()
    }

    @Test func deferredDownloadIsShared() {
        var script = MachineScript()
        script.run(.join(.test(1)), .transferEnded(1, .deferred(.test)))
        script.expect(.join(.test(2)), ["attach 2 to 1 before its end"])
        script.expect(.deferralEnded(1), ["transfer 1 attempt 1"])
        script.expect(.deferralEnded(1), ["report unexpected event deferralEnded for 1, which is transferring"])
    }
}
