import Testing

@testable import AsyncWebImage

/// The rules for pausing and resuming the transfer of a body.
struct BackpressureTests {
    private typealias Consumption = Backpressure.Consumption

    private func paused(for reason: Backpressure.Pause) -> Backpressure {
        var pressure = Backpressure()
        pressure.pause(for: reason)
        return pressure
    }

    /// Returns whether a transfer that is paused for `reason` is resumed.
    private func resumes(_ reason: Backpressure.Pause, _ consumption: Consumption, hasMemory: Bool = true) -> Bool {
        var pressure = paused(for: reason)
        let isResumed = pressure.resume(consumption, hasMemory: hasMemory)
        #expect((pressure.pause == nil) == isResumed)
        return isResumed
    }

    // MARK: Pausing

    @Test func bodyThatIsKeptWholeIsNeverFull() {
        #expect(!Consumption(unread: 100 << 20).isFull)
    }

    @Test func bodyWhoseBeginningIsDiscardedIsFullAtTheHighMark() {
        #expect(!Consumption(hasBeginning: false, unread: Backpressure.highWater - 1).isFull)
        #expect(Consumption(hasBeginning: false, unread: Backpressure.highWater).isFull)
    }

    @Test func bodyOfReadersThatLimitTheReadAheadIsFullEarly() {
        #expect(!Consumption(limitsReadAhead: true, unread: Backpressure.limitedReadAhead - 1).isFull)
        #expect(Consumption(limitsReadAhead: true, unread: Backpressure.limitedReadAhead).isFull)
    }

    @Test(arguments: [true, false]) func bodyThatIsCollectedOrHasNoReadersIsNeverFull(isCollected: Bool) {
        let consumption = Consumption(
            hasReaders: isCollected, isCollected: isCollected, limitsReadAhead: true, hasBeginning: false,
            unread: 100 << 20)
        #expect(!consumption.isFull && !consumption.isPacedByReaders)
    }

    @Test func onlyReadersThatLimitTheReadAheadLimitPieces() {
        #expect(Consumption(limitsReadAhead: true).maximumPiece == Backpressure.limitedReadAhead)
        #expect(Consumption().maximumPiece == .max)
        #expect(Consumption(isCollected: true, limitsReadAhead: true).maximumPiece == .max)
    }

    // MARK: Resuming

    @Test func transferThatIsNotPausedIsNotResumed() {
        var pressure = Backpressure()
        let isResumed = pressure.resume(Consumption(), hasMemory: true)
        #expect(!isResumed)
    }

    @Test func readersResumeTheTransferAtTheLowMark() {
        #expect(!resumes(.readers, Consumption(hasBeginning: false, unread: Backpressure.lowWater + 1)))
        #expect(resumes(.readers, Consumption(hasBeginning: false, unread: Backpressure.lowWater)))
    }

    @Test func readersThatLimitTheReadAheadResumeTheTransferWhenTheyHaveReadEverything() {
        #expect(!resumes(.readers, Consumption(limitsReadAhead: true, unread: 1)))
        #expect(resumes(.readers, Consumption(limitsReadAhead: true, unread: 0)))
    }

    @Test func callerThatCollectsTheBodyResumesTheTransfer() {
        #expect(resumes(.readers, Consumption(isCollected: true, unread: 100 << 20)))
    }

    @Test func lastReaderThatLeavesResumesTheTransfer() {
        #expect(resumes(.readers, Consumption(hasReaders: false)))
    }

    @Test func transferPausedForMemoryIsResumedOnlyWithMemory() {
        #expect(!resumes(.memory, Consumption(), hasMemory: false))
        #expect(resumes(.memory, Consumption()))
        #expect(resumes(.readers, Consumption(), hasMemory: false))
    }

    @Test func transferPausedForMemoryWaitsForItsReadersAsWell() {
        #expect(!resumes(.memory, Consumption(hasBeginning: false, unread: Backpressure.highWater)))
    }

    @Test func grantOfMemoryLeavesOnlyTheReadersToWaitFor() {
        var pressure = paused(for: .memory)
        pressure.memoryGranted()
        #expect(pressure == paused(for: .readers))
        var running = Backpressure()
        running.memoryGranted()
        #expect(running == Backpressure())
    }
}
