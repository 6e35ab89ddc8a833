import HTTPTransport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// The life cycle of a download as a table of events and the resulting actions.
struct DownloadMachineTests {
    // MARK: Sharing

    @Test func aDownloadBeginsWithItsFirstCallerAndEndsWithItsBody() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.transferEnded(1, .complete), ["receive 1", "close 1"])
        script.expectNothingLeft()
    }

    @Test func sameKeySharesDownloadAndSameSizeSharesDecode() {
        var script = MachineScript()
        script.expect(.join(.test(1, side: 10)), ["open 1 for 1 decode 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, side: 10)), ["attach 2 to 1 decode 1"])
        script.expect(.join(.test(3, side: 20)), ["attach 3 to 1 decode 2 new"])
        script.expect(.join(.test(4, "b")), ["open 2 for 4"])
        script.expect(.transferEnded(1, .complete), ["receive 1", "transfer 2 attempt 1"])
        script.expect(.decodeEnded(2, isSuccess: true), ["deliver decode 2 of 1 to [3]"])
        script.expect(.decodeEnded(1, isSuccess: true), ["deliver decode 1 of 1 to [1, 2]", "close 1"])
        script.expect(.transferEnded(2, .complete), ["receive 2", "close 2"])
        script.expectNothingLeft()
    }

    @Test func requestAfterAnAnswerDoesNotJoinTheDownload() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, side: 10)), ["attach 2 to 1 decode 1 new before its end"])
        script.expect(.transferEnded(1, .complete), ["receive 1"])
        script.expect(.join(.test(3)), ["open 2 for 3", "transfer 2 attempt 1"])

        script = MachineScript()
        script.expect(.join(.test(1, side: 10)), ["open 1 for 1 decode 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, side: 20)), ["attach 2 to 1 decode 2 new"])
        script.expect(.decodeEnded(1, isSuccess: true), ["deliver decode 1 of 1 to [1]"])
        script.expect(.join(.test(3, side: 20)), ["open 2 for 3 decode 3"])
    }

    @Test func aCompleteBodyIsSharedUntilTheFirstAnswer() {
        var script = MachineScript()
        script.expect(.join(.test(1, side: 10)), ["open 1 for 1 decode 1", "transfer 1 attempt 1"])
        script.expect(.transferEnded(1, .complete), ["receive 1"])
        script.expect(.join(.test(2, side: 10)), ["attach 2 to 1 decode 1"])
        // The body is complete, so this caller does not wait.
        script.expect(.join(.test(3)), ["attach 3 to 1"])
        script.expect(.join(.test(4)), ["open 2 for 4", "transfer 2 attempt 1"])
        script.expect(.leave(4), ["detach 4 from 2", "close 2 early, keeping"])
        script.expect(.transferEnded(2, .cancelled), [])
        script.expect(.decodeEnded(1, isSuccess: true), ["deliver decode 1 of 1 to [1, 2]", "close 1"])
        script.expectNothingLeft()
    }

    @Test func decodeFailureDoesNotFailDataRequest() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, side: 10)), ["attach 2 to 1 decode 1 new before its end"])
        script.expect(.decodeEnded(1, isSuccess: false), ["deliver decode 1 of 1 to [2]"])
        script.expect(.join(.test(3, side: 10)), ["attach 3 to 1 decode 2 new before its end"])
    }

    @Test func callerTooLateForTheFirstByteStartsANewDownload() {
        var script = MachineScript { $0.maximumConcurrentDownloads = 2 }
        script.expect(.join(.test(1, side: 10)), ["open 1 for 1 decode 1", "transfer 1 attempt 1"])
        guard case .attach(let attachment)? = script.handle(.join(.test(2, side: 20))).first else {
            Issue.record("did not join")
            return
        }
        #expect(attachment.caller.isJoined)
        script.expect(
            .refused(attachment), ["detach 2 from 1 decode 2", "open 2 for 2 decode 3", "transfer 2 attempt 1"])
        #expect(script.machine.downloads[id: 1]?.decodes.count == 1 && script.machine.decodes.count == 2)
        script.expect(.join(.test(3, side: 20)), ["attach 3 to 2 decode 3"])
    }

    // MARK: Leaving

    @Test func lastCallerLeavingStopsTransferAndSlotIsFreeAtItsEnd() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2)), ["attach 2 to 1 before its end"])
        script.expect(.join(.test(3, "b")), ["open 2 for 3"])
        script.expect(.leave(1), ["detach 1 from 1"])
        script.expect(.leave(2), ["detach 2 from 1", "close 1 early, keeping"])
        script.expect(.join(.test(4)), ["open 3 for 4"])
        script.expect(.transferEnded(1, .cancelled), ["transfer 2 attempt 1"])
        script.expect(.leave(3), ["detach 3 from 2", "close 2 early, keeping"])
        script.expect(.leave(4), ["detach 4 from 3", "close 3 early"])
        script.expect(.transferEnded(2, .complete), [])
        script.expectNothingLeft()
    }

    @Test func lastCallerLeavingCancelsDecodeAndANewOneMayStart() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, side: 10)), ["attach 2 to 1 decode 1 new before its end"])
        script.expect(.leave(2), ["detach 2 from 1 decode 1", "cancel decode 1"])
        script.expect(.join(.test(3, side: 10)), ["attach 3 to 1 decode 2 new before its end"])
        script.expect(.decodeEnded(1, isSuccess: true), [])
        script.expect(.decodeEnded(2, isSuccess: true), ["deliver decode 2 of 1 to [3]"])
        script.expect(.transferEnded(1, .complete), ["receive 1", "close 1"])
        script.expectNothingLeft()
    }

    @Test func downloadHasHighestPriorityOfItsCallers() {
        var script = MachineScript()
        script.run(.join(.test(1, "busy")), .join(.test(2, priority: .low)), .join(.test(3, side: 10, priority: .high)))
        #expect(script.machine.waitingCount(of: .high) == 1)
        script.run(.prioritize(2, .veryHigh))
        #expect(script.machine.waitingCount(of: .veryHigh) == 1)
        script.run(.prioritize(2, .veryLow), .leave(3))
        #expect(script.machine.waitingCount(of: .veryLow) == 1 && script.machine.waitingCount == 1)
    }

    // MARK: Attempts

    @Test func temporaryFailureIsRetriedAfterADelay() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, "b")), ["open 2 for 2"])
        script.expect(
            .transferEnded(1, .failed(.passing)),
            ["back off 1 for 10.0 seconds until 10.0 seconds", "transfer 2 attempt 1"])
        script.expect(.transferEnded(2, .complete), ["receive 2", "close 2"])
        script.expect(.join(.test(3)), ["attach 3 to 1 before its end"])
        script.expect(.backoffElapsed(1), ["transfer 1 attempt 2"])
        script.expect(.transferEnded(1, .failed(.passing)), ["back off 1 for 10.0 seconds until 10.0 seconds"])
        script.expect(.backoffElapsed(1), ["transfer 1 attempt 3"])
        script.expect(.transferEnded(1, .failed(.passing)), ["fail 1: \(ImageError.passing), keeping", "close 1"])
        script.expectNothingLeft()
    }

    @Test func permanentFailureEndsTheDownload() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, side: 10)), ["attach 2 to 1 decode 1 new before its end"])
        script.expect(.transferEnded(1, .failed(.lasting)), ["fail 1: \(ImageError.lasting), keeping"])
        script.expect(.join(.test(3)), ["open 2 for 3", "transfer 2 attempt 1"])
        script.expect(.decodeEnded(1, isSuccess: false), ["deliver decode 1 of 1 to [2]", "close 1"])
        script.expect(.transferEnded(2, .complete), ["receive 2", "close 2"])
        script.expectNothingLeft()
    }

    @Test func nextAttemptResumesPreviousOne() throws {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.transferEnded(1, .failed(.passing)), ["back off 1 for 10.0 seconds until 10.0 seconds"])
        script.expect(.resumable(1, try #require(.test(500))), [])
        script.expect(.backoffElapsed(1), ["transfer 1 attempt 2 from 500"])
        // The server has another file: from now on, the whole body is requested.
        script.expect(.transferEnded(1, .notContinued), ["transfer 1 attempt 3"])
        script.expect(.transferEnded(1, .failed(.passing)), ["back off 1 for 10.0 seconds until 10.0 seconds"])
        script.expect(.resumable(1, try #require(.test(700))), [])
        script.expect(.backoffElapsed(1), ["transfer 1 attempt 4"])
    }

    @Test func nextDownloadResumesKeptBody() throws {
        let key = Subscriber.test(1).key
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.leave(1), ["detach 1 from 1", "close 1 early, keeping"])
        script.expect(.keep(try #require(.test(20_000, isStored: true)), for: key), [])
        script.expect(.transferEnded(1, .cancelled), [])
        script.expect(.join(.test(2)), ["open 2 for 2", "transfer 2 attempt 1 from 20000"])
        script.expect(.leave(2), ["detach 2 from 2", "close 2 early, keeping"])
        script.expect(.keep(try #require(.test(20_000, isStored: true, [.cacheControl: "no-store"])), for: key), [])
        script.expect(.transferEnded(2, .cancelled), [])
        script.expect(.join(.test(3)), ["open 3 for 3", "transfer 3 attempt 1"])
    }

    // MARK: The response cache

    @Test func cacheHitTakesNoSlot() {
        var script = MachineScript(hasResponseCache: true)
        script.expect(.join(.test(1)), ["open 1 for 1", "decide 1"])
        script.expect(.decided(1, .fetch(standIn: nil)), ["transfer 1 attempt 1 as decided"])
        script.expect(.join(.test(2, "b")), ["open 2 for 2", "decide 2"])
        script.expect(.join(.test(3, "c")), ["open 3 for 3", "decide 3"])
        script.expect(.transferEnded(2, .complete), ["receive 2", "close 2"])
        script.expect(.decided(3, .fetch(standIn: nil)), [])
        script.expect(.transferEnded(1, .complete), ["receive 1", "close 1", "transfer 3 attempt 1 as decided"])
        script.expect(.transferEnded(3, .complete), ["receive 3", "close 3"])
        script.expectNothingLeft()
    }

    @Test func decisionThatNeedsNoNetworkIsPerformedWithoutASlot() {
        var script = MachineScript(hasResponseCache: true)
        script.run(.join(.test(1)), .decided(1, .fetch(standIn: nil)), .schedule(hasMemory: true))
        script.expect(.join(.test(2, "b")), ["open 2 for 2", "decide 2"])
        script.expect(.decided(2, .refuse), ["transfer 2 attempt 1 as decided"])
        script.expect(.transferEnded(2, .complete), ["receive 2", "close 2"])
    }

    @Test func callerThatExpectsAnotherBodyThanAStoredOneRequestsItFromTheOrigin() {
        var script = MachineScript(hasResponseCache: true)
        script.expect(.mismatched([.test(1, "a")], isStored: true), ["open 1 for 1", "transfer 1 attempt 1"])
    }

    @Test(arguments: [CachePolicy.reload, .cacheOnly, .noStore])
    func callerWhosePolicyForbidsAnotherRequestFails(policy: CachePolicy) {
        var script = MachineScript(hasResponseCache: true)
        script.expect(
            .mismatched([.test(1, "a", policy: policy)], isStored: true), ["answer 1: \(ImageError.lasting)"])
        script.expectNothingLeft()
    }

    @Test func callerThatExpectsAnotherBodyThanTheOriginsFails() {
        var script = MachineScript()
        script.expect(.mismatched([.test(1, "a")], isStored: false), ["answer 1: \(ImageError.lasting)"])
        script.expectNothingLeft()
    }

    @Test func abandonedLookupStartsNoTransfer() {
        var script = MachineScript(hasResponseCache: true)
        script.expect(.join(.test(1)), ["open 1 for 1", "decide 1"])
        script.expect(.leave(1), ["detach 1 from 1", "close 1 early"])
        script.expect(.decided(1, .fetch(standIn: nil)), [])
        script.expectNothingLeft()
    }

    @Test func callersCanJoinABackgroundRefresh() {
        var script = MachineScript(hasResponseCache: true)
        script.expect(.refresh(.test(1, priority: .low)), ["open 1 for 1", "decide 1"])
        script.expect(.refresh(.test(2, priority: .low)), [])
        script.expect(.join(.test(3)), ["attach 3 to 1 before its end"])
        script.expect(.transferEnded(1, .complete), ["receive 1", "close 1"])
        script.expectNothingLeft()
    }

    @Test func numberOfWaitingRefreshesIsLimited() {
        var script = MachineScript()
        script.run(.join(.test(1)))
        let limit = DownloadMachine.maximumWaitingRefreshes
        for number in 0..<2 * limit {
            script.run(.refresh(.test(UInt64(number + 2), "\(number)", priority: .low)))
        }
        #expect(script.machine.waitingCount == limit)
    }

    @Test func noRefreshStartsDuringShutdown() {
        var script = MachineScript()
        script.run(.shutDown(gracePeriod: .zero))
        script.expect(.refresh(.test(1, priority: .low)), ["finish shutdown"])
        script.expectNothingLeft()
    }

    @Test func storedFailureCausesNoRetry() {
        var script = MachineScript(hasResponseCache: true)
        script.expect(.join(.test(1)), ["open 1 for 1", "decide 1"])
        script.expect(.transferEnded(1, .remembered(.passing)), ["fail 1: \(ImageError.passing), keeping", "close 1"])
        script.expectNothingLeft()
    }

    @Test func finishedDownloadReadByACallerIsNotJoined() {
        var script = MachineScript()
        script.run(.join(.test(1)), .join(.test(2, side: 10)), .leave(1))
        // The first caller can have read the whole body before it left.
        guard case .attach(let attachment)? = script.handle(.join(.test(3))).first else {
            Issue.record("not attached")
            return
        }
        #expect(attachment.isBeforeEnd)
    }

    // MARK: Events that cannot happen

    @Test func anImpossibleEventIsReportedAndChangesNothing() throws {
        var script = MachineScript()
        script.run(.join(.test(1)), .join(.test(2, "b", side: 10)))
        let impossible: [(DownloadMachine.Event, String)] = [
            (.transferEnded(2, .complete), "transferEnded for 2, which is queued"),
            (.transferEnded(9, .complete), "transferEnded for 9, which is unknown"),
            (.decided(1, .fetch(standIn: nil)), "decided for 1, which is transferring"),
            (.resumable(1, try #require(.test(500))), "resumable for 1, which is transferring"),
            (.backoffElapsed(2), "backoffElapsed for 2, which is queued"),
            (.decodeEnded(9, isSuccess: true), "decodeEnded for 9, which is unknown"),
            (.gracePeriodEnded, "gracePeriodEnded for 0, which is unknown"),
        ]
        for (event, words) in impossible { script.expect(event, ["report unexpected event \(words)"]) }
        #expect(script.machine.callers.count == 2 && script.machine.downloads.count == 2)
        #expect(script.machine.runningCount == 1 && script.machine.waitingCount == 1)
    }

    @Test func unexpectedCancellationFailsDownload() {
        var script = MachineScript()
        script.expect(.join(.test(1)), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(
            .transferEnded(1, .cancelled),
            [
                "report unexpected event transferEnded for 1, which is transferring",
                "fail 1: \(TransportError(url: "", reason: .cancelled)), keeping", "close 1",
            ])
        script.expectNothingLeft()
    }
}
