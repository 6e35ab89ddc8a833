import HTTPTransport
import Testing

@testable import AsyncWebImage

/// The slots of load groups, as a table of events and the resulting actions.
struct DownloadMachineSlotTests {
    /// The slots of a group of which `limit` elements are active at a time.
    private func slots(_ limit: Int, count: Int = 4, isOrdered: Bool = false) -> [LoadSlot] {
        let group = LoadGroup(limit: limit, maximumOpen: 100, isOrdered: isOrdered) { _ in }
        return (0..<count).map { LoadSlot($0, of: group) }
    }

    /// A machine whose downloads need no slot of their own.
    private func script(_ change: (inout DownloadConfiguration) -> Void = { _ in }) -> MachineScript {
        MachineScript {
            $0.maximumConcurrentDownloads = 10
            change(&$0)
        }
    }

    @Test func downloadWaitsForTheSlotUntilAnEarlierElementHasBeenProcessed() {
        let slots = slots(1)
        var script = script()
        script.expect(.join(.test(1, slot: slots[0])), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, "b", slot: slots[1])), ["open 2 for 2"])
        #expect(script.machine.waitingCount == 1 && script.machine.waitingCount(of: .normal) == 1)
        // The result is still being processed.
        script.expect(.transferEnded(1, .complete), ["receive 1", "close 1"])
        script.expect(.slot(.end(slots[0])), ["transfer 2 attempt 1"])
        script.expect(.transferEnded(2, .complete), ["receive 2", "close 2"])
        script.expect(.slot(.end(slots[1])), [])
        script.expectNothingLeft()
    }

    @Test func requestsWithoutASlotAreNotDelayedByAGroup() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, "b", slot: slots[1])))
        script.expect(.join(.test(3, "c")), ["open 3 for 3", "transfer 3 attempt 1"])
        script.expect(.join(.test(4, "b")), ["attach 4 to 2 before its end", "transfer 2 attempt 1"])
    }

    @Test func elementsGetSlotsInOrder() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])))
        script.run(.join(.test(2, "d", slot: slots[3])), .join(.test(3, "c", slot: slots[2])))
        script.expect(.slot(.end(slots[0])), ["transfer 3 attempt 1"])
        script.expect(.slot(.end(slots[2])), ["transfer 2 attempt 1"])
    }

    @Test func slotIsGivenBackWhileADownloadBacksOff() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, "b", slot: slots[1])))
        script.expect(
            .transferEnded(1, .failed(.passing)),
            ["back off 1 for 10.0 seconds until 10.0 seconds", "transfer 2 attempt 1"])
        script.expect(.backoffElapsed(1), [])
        script.run(.transferEnded(2, .complete))
        script.expect(.slot(.end(slots[1])), ["transfer 1 attempt 2"])
    }

    @Test func elementThatHasReceivedBytesKeepsItsSlotWhileItsDownloadBacksOff() async throws {
        let slots = slots(1)
        let feed = BodyStream()
        let caller = Subscriber.test(1, slot: slots[0], bytes: feed)
        let log = BodyLog(maximumReplayBytes: 1 << 20)
        feed.attach(try #require(log.makeReader(digest: nil)), of: log, isJoined: false)
        _ = log.append(([1, 2, 3] as [UInt8]).span)
        _ = try await feed.next()
        var script = script()
        script.run(.join(caller), .join(.test(2, "b", slot: slots[1])))
        script.expect(
            .transferEnded(1, .failed(.passing)),
            ["back off 1 for 10.0 seconds until 10.0 seconds"])
    }

    @Test func waitForASlotDoesNotCountTowardTheRateOfAHost() {
        let slots = slots(1)
        var script = script { $0.rateLimitPerHost = RateLimit(requestsPerSecond: 1) }
        script.run(.join(.test(1, host: "other.example", slot: slots[0])), .schedule(hasMemory: true))
        script.expect(.join(.test(2, slot: slots[1])), ["open 2 for 2"])
        script.expect(.join(.test(3, "c")), ["open 3 for 3", "transfer 3 attempt 1"])
        script.expect(.slot(.end(slots[0])), ["alarm rate at 1.0 seconds"])
        script.time.elapsed = .seconds(1)
        script.expect(.memory(hasCapacity: true), ["transfer 2 attempt 1"])
    }

    @Test func downloadThatWaitsForARateHasNoSlot() {
        let slots = slots(1)
        var script = script { $0.rateLimitPerHost = RateLimit(requestsPerSecond: 1) }
        script.run(.join(.test(1, "a")), .schedule(hasMemory: true))
        script.expect(.join(.test(2, "b", slot: slots[0])), ["open 2 for 2", "alarm rate at 1.0 seconds"])
        script.expect(
            .join(.test(3, host: "other.example", slot: slots[1])),
            ["open 3 for 3", "transfer 3 attempt 1", "alarm rate at 1.0 seconds"])
    }

    @Test func waitForASlotDoesNotCountTowardTheTotalDeadline() {
        let slots = slots(1)
        var script = script { $0.deadlines.total = .seconds(60) }
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, "b", slot: slots[1])))
        script.time.elapsed = .seconds(20)
        script.run(.schedule(hasMemory: true), .transferEnded(1, .complete))
        script.time.elapsed = .seconds(500)
        script.expect(.deadlinePassed, [])
        script.expect(
            .slot(.end(slots[0])), ["alarm deadline at 560.0 seconds", "transfer 2 attempt 1 within 60.0 seconds"])
    }

    @Test func sharedDownloadNeedsOneSlot() {
        let (slots, others) = (slots(1), slots(1))
        var script = script()
        script.run(.join(.test(1, "a", slot: slots[0])), .join(.test(2, "b", slot: slots[1])))
        script.expect(.join(.test(3, "b", slot: others[0])), ["attach 3 to 2 before its end", "transfer 2 attempt 1"])
    }

    @Test func elementThatLeavesNoLongerWaits() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, "b", slot: slots[1])))
        script.expect(.leave(2), ["detach 2 from 2", "close 2 early"])
        script.expect(.slot(.end(slots[1])), [])
        script.run(.transferEnded(1, .complete))
        script.expect(.slot(.end(slots[0])), [])
        script.expectNothingLeft()
    }

    @Test func firstElementOfAnOrderedGroupIsServedBeyondTheLimit() {
        let slots = slots(1, isOrdered: true)
        var script = script()
        script.expect(
            .join(.test(1, "b", slot: slots[1])), ["open 1 for 1", "transfer 1 attempt 1"])
        script.expect(.join(.test(2, "c", slot: slots[2])), ["open 2 for 2"])
        script.expect(.join(.test(3, "a", slot: slots[0])), ["open 3 for 3", "transfer 3 attempt 1"])
        script.run(.transferEnded(1, .complete), .transferEnded(3, .complete))
        script.expect(.slot(.end(slots[0])), [])
        script.expect(.slot(.end(slots[1])), ["transfer 2 attempt 1"])
    }

    @Test func resultWithoutATransferTakesASlotWithoutWaiting() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])))
        script.run(.slot(.keep(slots[1])), .slot(.end(slots[0])))
        script.expect(.join(.test(2, "c", slot: slots[2])), ["open 2 for 2"])
        script.expect(.slot(.end(slots[1])), ["transfer 2 attempt 1"])
    }

    @Test func workWithoutADownloadWaitsForItsSlot() {
        let slots = slots(1)
        let (first, second) = (OneShot<Void>(), OneShot<Void>())
        var script = script()
        script.expect(.slot(.take(slots[0], first)), ["grant"])
        script.expect(.slot(.take(slots[1], second)), [])
        script.expect(.join(.test(1, slot: slots[2])), ["open 1 for 1"])
        script.expect(.slot(.withdraw(slots[1], second)), [])
        script.expect(.slot(.end(slots[0])), ["transfer 1 attempt 1"])
    }

    @Test func requestForAnElementThatHasBeenProcessedNeedsNoSlot() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])))
        slots[1].end()
        script.expect(
            .join(.test(2, "b", slot: slots[1])), ["open 2 for 2", "transfer 2 attempt 1"])
    }

    // MARK: Several requests of an element

    @Test func requestsOfAnElementWaitForItsSlotTogether() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])))
        script.run(.join(.test(2, "b", slot: slots[1])), .join(.test(3, "c", slot: slots[1])))
        script.expect(.slot(.end(slots[0])), ["transfer 2 attempt 1", "transfer 3 attempt 1"])
    }

    @Test func requestContinuesWithTheSlotThatAnotherOneOfItsElementTakes() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, "b", slot: slots[1])))
        script.expect(.slot(.keep(slots[1])), ["transfer 2 attempt 1"])
    }

    @Test func requestOfAnElementThatIsActiveBeyondTheLimitDoesNotWait() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .slot(.keep(slots[1])))
        script.expect(.join(.test(2, "b", slot: slots[1])), ["open 2 for 2", "transfer 2 attempt 1"])
        let answer = OneShot<Void>()
        script.expect(.slot(.take(slots[1], answer)), ["grant"])
    }

    @Test func workOfAnActiveElementDoesNotWaitBehindAnEarlierElement() {
        let slots = slots(1)
        let answer = OneShot<Void>()
        var script = script()
        script.run(.join(.test(1, slot: slots[1])), .join(.test(2, "b", slot: slots[0])))
        script.expect(.slot(.take(slots[1], answer)), ["grant"])
        // The work uses the slot.
        script.expect(
            .transferEnded(1, .failed(.passing)), ["back off 1 for 10.0 seconds until 10.0 seconds"])
    }

    @Test func elementStillWaitsWhenOneOfItsTwoCallersLeaves() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])))
        script.run(.join(.test(2, "b", slot: slots[1])), .join(.test(3, "b", slot: slots[1])))
        script.run(.leave(2))
        script.expect(.slot(.end(slots[0])), ["transfer 2 attempt 1"])
    }

    @Test func canceledWorkDoesNotEndTheWaitOfARequestOfItsElement() {
        let slots = slots(1)
        let answer = OneShot<Void>()
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, "b", slot: slots[1])))
        script.run(.slot(.take(slots[1], answer)), .slot(.withdraw(slots[1], answer)))
        script.expect(.slot(.end(slots[0])), ["transfer 2 attempt 1"])
    }

    @Test func slotIsNotGivenBackWhileAnotherTransferUsesIt() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, "b", slot: slots[0])))
        script.run(.join(.test(3, "c", slot: slots[1])))
        script.expect(
            .transferEnded(1, .failed(.passing)), ["back off 1 for 10.0 seconds until 10.0 seconds"])
        script.expect(
            .transferEnded(2, .failed(.passing)),
            ["back off 2 for 10.0 seconds until 10.0 seconds", "transfer 3 attempt 1"])
    }

    @Test func elementOfASharedTransferTakesOverWhenTheOtherOneLeaves() {
        let slots = slots(1)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, slot: slots[1])))
        script.run(.join(.test(3, "c", slot: slots[2])), .leave(1))
        script.expect(.slot(.end(slots[0])), [])
        script.expect(.slot(.end(slots[1])), ["transfer 2 attempt 1"])
    }

    @Test func nothingWaitsForTheSlotOfAnElementThatHasBeenProcessed() {
        let slots = slots(1)
        let (early, late) = (OneShot<Void>(), OneShot<Void>())
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .join(.test(2, "b", slot: slots[1])))
        script.run(.slot(.take(slots[1], early)))
        slots[1].end()
        script.expect(.slot(.end(slots[1])), ["transfer 2 attempt 1", "grant"])
        script.expect(.slot(.take(slots[1], late)), ["grant"])
    }

    // MARK: Room

    @Test func groupIsToldWhenAnotherElementCouldBecomeActive() {
        let slots = slots(2)
        var script = script()
        script.run(.join(.test(1, slot: slots[0])), .schedule(hasMemory: true))
        #expect(script.rooms == [.init(isThere: true, considered: 1)])
        script.run(
            .join(.test(2, "b", slot: slots[1])), .join(.test(3, "c", slot: slots[2])), .schedule(hasMemory: true))
        #expect(script.rooms.last == .init(isThere: false, considered: 2))
        script.run(.slot(.end(slots[0])), .schedule(hasMemory: true))
        #expect(script.rooms.count == 2)
        script.run(.slot(.end(slots[1])), .schedule(hasMemory: true))
        #expect(script.rooms.last == .init(isThere: true, considered: 0))
    }

    @Test func groupHasNoRoomWhileNoDownloadCouldStart() {
        let slots = slots(4)
        var script = script { $0.maximumConcurrentDownloads = 1 }
        script.run(.join(.test(1, slot: slots[0])), .schedule(hasMemory: true))
        #expect(script.rooms.last?.isThere == false)
        script.run(.transferEnded(1, .complete), .schedule(hasMemory: true))
        #expect(script.rooms.last?.isThere == true)
    }

    @Test func keptBodyOfAWaitingDownloadIsKept() throws {
        let slots = slots(1)
        var script = script()
        script.run(.keep(try #require(.test(20_000, isStored: true)), for: Subscriber.test(2, "b").key))
        script.run(.join(.test(1, slot: slots[0])))
        script.expect(.join(.test(2, "b", slot: slots[1])), ["open 2 for 2"])
        script.expect(.leave(2), ["detach 2 from 2", "close 2 early"])
        #expect(!script.machine.interrupted.isEmpty)
    }
}
