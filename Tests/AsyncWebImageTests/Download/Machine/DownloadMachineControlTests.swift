import HTTPTransport
import Testing

@testable import AsyncWebImage
import ResponseCache

/// Slots, time, memory, configuration and the end, as far as the download machine decides on them.
struct DownloadMachineControlTests {
    // MARK: Starting

    @Test func noDownloadsStartWhileSuspended() {
        var script = MachineScript()
        #expect(script.tell(.suspend, .join(.test(1))) == ["open 1 for 1"])
        #expect(script.tell(.resume) == ["transfer 1 attempt 1"])
    }

    @Test func oneDownloadMayStartWithoutMemoryCapacity() {
        var script = MachineScript { $0.maximumConcurrentDownloads = 4 }
        #expect(script.tell(.memory(hasCapacity: false), .join(.test(1))) == ["open 1 for 1", "transfer 1 attempt 1"])
        #expect(script.tell(.join(.test(2, "b"))) == ["open 2 for 2"])
        #expect(script.tell(.memory(hasCapacity: true)) == ["transfer 2 attempt 1"])
    }

    @Test func oneDownloadMayStartWithoutMemoryIfAllOthersBackOff() {
        var script = MachineScript()
        script.run(.join(.test(1)), .transferEnded(1, .failed(.passing)), .memory(hasCapacity: false))
        script.expect(.join(.test(2, "b")), ["open 2 for 2", "transfer 2 attempt 1"])
    }

    @Test func rateLimitedDownloadStartsAtItsAlarm() {
        var script = MachineScript { $0.rateLimitPerHost = RateLimit(requestsPerSecond: 1) }
        #expect(script.tell(.join(.test(1))) == ["open 1 for 1", "transfer 1 attempt 1"])
        script.time = Stopwatch.Instant(elapsed: .milliseconds(100))
        #expect(script.tell(.transferEnded(1, .complete)) == ["receive 1", "close 1"])
        #expect(script.tell(.join(.test(2))) == ["open 2 for 2", "alarm rate at 1.0 seconds"])
        script.time = Stopwatch.Instant(elapsed: .seconds(1))
        #expect(script.tell() == ["transfer 2 attempt 1"])
    }

    // MARK: Time

    @Test func attemptsShareTheTotalDeadline() {
        var script = MachineScript { $0.deadlines.total = .seconds(60) }
        #expect(
            script.tell(.join(.test(1))) == [
                "open 1 for 1", "alarm deadline at 60.0 seconds", "transfer 1 attempt 1 within 60.0 seconds",
            ])
        script.time = Stopwatch.Instant(elapsed: .seconds(15))
        script.run(.transferEnded(1, .failed(.passing)))
        script.time = Stopwatch.Instant(elapsed: .seconds(25))
        #expect(script.tell(.backoffElapsed(1)) == ["transfer 1 attempt 2 within 35.0 seconds"])
        script.time = Stopwatch.Instant(elapsed: .seconds(55))
        let timeout = TransportError(url: "", reason: .timedOut(.total), detail: ImageError.passing.description)
        #expect(
            script.tell(.transferEnded(1, .failed(.passing))) == ["fail 1: \(timeout), keeping", "close 1"],
            "an attempt that could not begin in time is not made")
    }

    @Test func timedOutDownloadHoldsItsSlotUntilItsTransferEnds() {
        var script = MachineScript { $0.deadlines.total = .seconds(60) }
        script.run(.join(.test(1)), .join(.test(2, side: 10)), .join(.test(3, "b")))
        script.time = Stopwatch.Instant(elapsed: .seconds(60))
        let timeout = TransportError(url: "", reason: .timedOut(.total))
        #expect(script.tell(.deadlinePassed) == ["fail 1: \(timeout), keeping"])
        #expect(script.tell(.decodeEnded(1, isSuccess: false)) == ["deliver decode 1 of 1 to [2]", "close 1"])
        #expect(
            script.tell(.transferEnded(1, .cancelled)) == [
                "alarm deadline at 120.0 seconds", "transfer 2 attempt 1 within 60.0 seconds",
            ])
    }

    // MARK: Control

    @Test func cancelAllAnswersEveryCallerBeforeTransfersEnd() {
        var script = MachineScript()
        script.run(.join(.test(1)), .join(.test(2, side: 10)))
        let actions = script.tell(.cancelAll)
        #expect(Set(actions.prefix(2)) == ["answer 1: CancellationError()", "answer 2: CancellationError()"])
        #expect(actions.last == "close 1 early, keeping" && script.machine.callers.count == 0)
        #expect(script.tell(.join(.test(3))) == ["open 2 for 3"])
    }

    @Test func changedHeaderFieldsSplitSharedDownloads() {
        var script = MachineScript()
        script.run(.join(.test(1)), .join(.test(2, "b")))
        var configuration = script.machine.configuration
        configuration.headerFields[.acceptLanguage] = "en"
        #expect(script.tell(.configure(configuration)) == ["configure"])
        #expect(script.tell(.join(.test(3))) == ["open 3 for 3"])
        #expect(script.tell(.join(.test(4, "b"))) == ["attach 4 to 2 before its end"])
    }

    /// Returns what happens to a request for `/a` that follows a change of the header fields.
    private func requestAfterChangedHeaderFields(_ script: MachineScript) -> [String] {
        var script = script
        var configuration = script.machine.configuration
        configuration.headerFields[.acceptLanguage] = "en"
        script.run(.suspend, .configure(configuration))
        return script.tell(.join(.test(9)))
    }

    @Test func afterAChangeOfHeaderFieldsNoRequestJoinsADownloadThatHasReceivedSomething() throws {
        let resumption = try #require(Resumption.test(500))
        var script = MachineScript()
        script.run(.join(.test(1)), .transferEnded(1, .failed(.passing)), .resumable(1, resumption))
        #expect(requestAfterChangedHeaderFields(script) == ["open 2 for 9"], "it backs off")
        script.run(.suspend, .backoffElapsed(1))
        #expect(requestAfterChangedHeaderFields(script) == ["open 2 for 9"], "it waits for a slot")
    }

    @Test func afterAChangeOfHeaderFieldsNoRequestJoinsADownloadThatTheCacheHasDecidedAbout() {
        var script = MachineScript(hasResponseCache: true)
        script.run(.join(.test(1)), .suspend, .decided(1, .fetch(standIn: nil)))
        #expect(requestAfterChangedHeaderFields(script) == ["open 2 for 9"])
    }

    @Test func afterAChangeOfHeaderFieldsRequestsJoinDownloadsThatHaveReceivedNothing() {
        var script = MachineScript()
        script.run(.suspend, .join(.test(1)))
        #expect(requestAfterChangedHeaderFields(script) == ["attach 9 to 1 before its end"])
    }

    // MARK: Shutdown

    @Test func shutdownFinishesOnlyMarkedDownloadsAndThenEnds() {
        var script = MachineScript { $0.maximumConcurrentDownloads = 2 }
        script.run(.join(.test(1, finishes: true)), .join(.test(2, "b")), .join(.test(3, "c", finishes: true)))
        #expect(
            script.tell(.shutDown(gracePeriod: .seconds(10))) == [
                "begin shutdown", "answer 2: \(ImageError.shutDown)", "detach 2 from 2", "close 2 early, keeping",
                "alarm gracePeriod at 10.0 seconds",
            ])
        #expect(script.tell(.join(.test(4))) == ["answer 4: \(ImageError.shutDown)"])
        #expect(script.tell(.transferEnded(2, .cancelled)) == ["transfer 3 attempt 1"])
        #expect(script.tell(.transferEnded(1, .complete)) == ["receive 1", "close 1"])
        #expect(script.tell(.transferEnded(3, .complete)) == ["receive 3", "close 3", "finish shutdown"])
    }

    @Test func duringAShutdownOnlyCallersThatFinishRequestAnotherBodyThanTheStoredOne() {
        var script = MachineScript()
        script.run(.join(.test(1, finishes: true)), .join(.test(2, "b")), .shutDown(gracePeriod: .seconds(10)))
        script.expect(.mismatched([.test(3, "c")], isStored: true), ["answer 3: \(ImageError.shutDown)"])
        script.expect(
            .mismatched([.test(4, "c"), .test(5, "c", finishes: true)], isStored: true),
            ["open 3 for 4", "attach 5 to 3 before its end"])
    }

    @Test func shortestGracePeriodEndsTheShutdown() {
        var script = MachineScript()
        script.run(.join(.test(1, finishes: true)))
        script.run(.shutDown(gracePeriod: .seconds(10)))
        #expect(script.tell(.shutDown(gracePeriod: .seconds(100))) == [])
        #expect(script.tell(.shutDown(gracePeriod: .seconds(1))) == ["alarm gracePeriod at 1.0 seconds"])
        #expect(
            script.tell(.gracePeriodEnded) == [
                "answer 1: \(ImageError.shutDown)", "detach 1 from 1", "close 1 early, keeping",
            ])
        #expect(script.tell(.transferEnded(1, .cancelled)) == ["finish shutdown"])
    }
}
