import HTTPTransport
import Testing

@testable import AsyncWebImage
@testable import ResponseCache

/// Limits on waiting downloads and on their time.
struct DownloadMachineAdmissionTests {
    private func overload(_ seconds: Int) -> String {
        "\(ImageError.overloaded(retryAfter: .seconds(seconds), url: ""))"
    }

    @Test func downloadThatWouldWaitFailsAtTheLimit() {
        var script = MachineScript { $0.maximumWaitingDownloads = 2 }
        script.run(.join(.test(1)), .join(.test(2, "b")), .join(.test(3, "c")))
        script.expect(.join(.test(4, "d")), ["open 4 for 4", "fail 4: \(overload(1))", "close 4"])
        script.expect(.transferEnded(1, .complete), ["receive 1", "close 1", "transfer 2 attempt 1"])
        script.expect(.join(.test(5, "e")), ["open 5 for 5"])
        script.expect(.join(.test(6, "f")), ["open 6 for 6", "fail 6: \(overload(1))", "close 6"])
    }

    @Test func joiningADownloadNeverFails() {
        var script = MachineScript { $0.maximumWaitingDownloads = 1 }
        script.run(.join(.test(1)), .join(.test(2, "b")))
        script.expect(.join(.test(3)), ["attach 3 to 1 before its end"])
        script.expect(.join(.test(4, "b")), ["attach 4 to 2 before its end"])
    }

    @Test func lowerPrioritiesNeverKeepHigherOnesOut() {
        var script = MachineScript { $0.maximumWaitingDownloads = 1 }
        script.run(.join(.test(1)), .join(.test(2, "b", priority: .low)))
        script.expect(
            .join(.test(3, "c", priority: .veryLow)), ["open 3 for 3", "fail 3: \(overload(1))", "close 3"])
        script.expect(.join(.test(4, "d", priority: .low)), ["open 4 for 4", "fail 4: \(overload(1))", "close 4"])
        // What waits keeps its place.
        script.expect(.join(.test(5, "e", priority: .high)), ["open 5 for 5"])
        script.expect(.join(.test(6, "f")), ["open 6 for 6", "fail 6: \(overload(1))", "close 6"])
        #expect(script.machine.waitingCount == 2)
    }

    @Test func downloadsThatCanStartAreNotWaiting() {
        var script = MachineScript {
            $0.maximumConcurrentDownloads = 8
            $0.maximumConcurrentDownloadsPerHost = 1
            $0.maximumWaitingDownloads = 0
        }
        // All in one turn: at least one may wait, and those for other hosts do not have to.
        script.run(.join(.test(1, host: "a")), .join(.test(2, "b", host: "a")))
        for host in 3..<8 { script.run(.join(.test(UInt64(host), host: "h\(host)"))) }
        _ = script.tell()
        #expect(script.machine.runningCount == 6 && script.machine.waitingCount == 1)
    }

    @Test func retriesKeepTheirPlace() {
        var script = MachineScript { $0.maximumWaitingDownloads = 1 }
        script.run(.join(.test(1)), .join(.test(2, "b")))
        script.run(.transferEnded(1, .failed(.passing)))
        _ = script.tell()
        script.run(.join(.test(3, "c")))
        script.expect(.backoffElapsed(1), [])
        #expect(script.machine.waitingCount == 2 && script.machine.downloads.count == 3)
    }

    @Test func cacheIsAskedBeforeARequestCountsAsWaiting() {
        var script = MachineScript(hasResponseCache: true) { $0.maximumWaitingDownloads = 1 }
        let fetch = CacheDecision.fetch(standIn: nil)
        for id in 1...3 as ClosedRange<UInt64> { script.run(.join(.test(id, "\(id)"))) }
        _ = script.tell(.decided(1, fetch), .decided(2, fetch))
        script.expect(.decided(3, fetch), ["fail 3: \(overload(1))", "close 3"])
    }

    @Test func downloadThatHasWaitedTooLongFails() {
        var script = MachineScript { $0.maximumQueueTime = .seconds(64) }
        script.run(.join(.test(1)))
        script.time = Stopwatch.Instant(elapsed: .milliseconds(500))
        script.expect(.join(.test(2, "b")), ["open 2 for 2", "alarm deadline at 65.0 seconds"])
        script.time = Stopwatch.Instant(elapsed: .seconds(60))
        script.run(.join(.test(3, "c")))
        script.time = Stopwatch.Instant(elapsed: .seconds(65))
        // The wait that has taken longest is the best estimate.
        script.expect(
            .deadlinePassed, ["fail 2: \(overload(60))", "close 2", "alarm deadline at 124.0 seconds"])
        script.time = Stopwatch.Instant(elapsed: .seconds(70))
        script.expect(.transferEnded(1, .complete), ["receive 1", "close 1", "transfer 3 attempt 1"])
        #expect(script.machine.latestWait == .seconds(10))
        script.time = Stopwatch.Instant(elapsed: .seconds(200))
        script.expect(.deadlinePassed, [])
        // One that need not wait ends the overload.
        script.run(.transferEnded(3, .complete), .join(.test(4, "d")))
        #expect(script.machine.runningCount == 1 && script.machine.latestWait == .zero)
    }

    @Test(arguments: [Duration.zero, .seconds(-5)]) func queueTimeCanBeZero(time: Duration) {
        var script = MachineScript { $0.maximumQueueTime = time }
        script.run(.join(.test(1)), .join(.test(2, "b")))
        script.time = Stopwatch.Instant(elapsed: .milliseconds(2))
        script.expect(.deadlinePassed, ["fail 2: \(overload(1))", "close 2"])
    }

    @Test func elementsOfALoadGroupAreNeitherRefusedNorCounted() {
        let group = LoadGroup(limit: 8, maximumOpen: 100, isOrdered: false) { _ in }
        var script = MachineScript {
            $0.maximumWaitingDownloads = 1
            $0.maximumQueueTime = .seconds(64)
        }
        script.run(.join(.test(1)))
        for number in 2...5 as ClosedRange<UInt64> {
            script.run(.join(.test(number, "\(number)", slot: LoadSlot(Int(number), of: group))))
        }
        #expect(script.machine.waitingCount == 4 && script.machine.nextDeadline == nil)
        script.run(.join(.test(6, "f")))
        script.expect(.join(.test(7, "g")), ["open 7 for 7", "fail 7: \(overload(1))", "close 7"])
        script.time = Stopwatch.Instant(elapsed: .seconds(64))
        script.expect(.deadlinePassed, ["fail 6: \(overload(60))", "close 6"])
        // The wait of a caller that is no element has a limit, and begins with it.
        script.expect(
            .join(.test(8, "2")), ["attach 8 to 2 before its end", "alarm deadline at 128.0 seconds"])
        script.time = Stopwatch.Instant(elapsed: .seconds(128))
        script.expect(.deadlinePassed, ["fail 2: \(overload(60))", "close 2"])
        #expect(script.machine.waitingCount == 3)
    }

    @Test func noRefreshStartsWhileTooManyWait() {
        var script = MachineScript { $0.maximumWaitingDownloads = 1 }
        script.run(.join(.test(1)), .join(.test(2, "b")))
        script.expect(.refresh(.test(3, "c", priority: .low)), [])
        #expect(script.machine.waitingCount == 1)
    }
}
