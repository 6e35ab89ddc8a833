import TestSupport
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct AllowanceTests {
    @Test func lineWaitsForItsMemoryAllowance() async {
        let allowance = Allowance<Int>(limit: 10)
        await allowance.reserve(6)
        await allowance.reserve(4)
        let served = Tally()
        let large = Task {
            await allowance.reserve(8)
            served.add()
        }
        allowance.release(4)
        #expect(served.count == 0)
        allowance.release(4)
        await large.value
    }

    @Test func memoryThatIsNotAvailableAtOnceIsNotReserved() async {
        let allowance = Allowance<Int>(limit: 10, next: 1)
        #expect(allowance.reserveAtOnce(6))
        #expect(!allowance.reserveAtOnce(5, for: 2))
        #expect(allowance.reserveAtOnce(4, for: 2))
        // The next line to deliver need not wait.
        #expect(allowance.reserveAtOnce(100, for: 1))
        allowance.release(110)
        #expect(allowance.reserveAtOnce(10))
    }

    @Test func singleLineMayExceedTheMemoryAllowance() async {
        let allowance = Allowance<Int>(limit: 10)
        await allowance.reserve(100)
        let next = Task { await allowance.reserve(1) }
        allowance.release(100)
        await next.value
    }

    @Test func onlyBriefWaitsForTheMemoryAllowanceCanBeEnded() async {
        let allowance = Allowance<Int>(limit: 1)
        await allowance.reserve(1)
        let served = Tally()
        let long = Task {
            await allowance.reserve(1)
            served.add()
        }
        let ending = Task {
            while !Task.isCancelled {
                allowance.endBriefWaits()
                await Task.yield()
            }
        }
        #expect(await !allowance.reserveBriefly(1))
        ending.cancel()
        #expect(served.count == 0)
        allowance.release(1)
        await long.value
    }

    /// Later lines wait for the next one, and could hold everything.
    @Test func nextLineInOrderDoesNotWaitForLaterOnes() async {
        let allowance = Allowance(limit: 10, next: 0)
        await allowance.reserve(10, for: 1)
        let later = Task { await allowance.reserve(5, for: 2) }
        await allowance.reserve(8, for: 0)
        allowance.deliver(8, before: 1)
        allowance.deliver(10, before: 2)
        allowance.finishDelivery(of: 8)
        allowance.finishDelivery(of: 10)
        await later.value
    }

    /// Their parts will be released without it.
    @Test func nextLineInOrderWaitsForThoseThatAreBeingDelivered() async {
        let allowance = Allowance(limit: 10, next: 0)
        await allowance.reserve(10, for: 0)
        allowance.deliver(10, before: 1)
        let served = Tally()
        let next = Task {
            await allowance.reserve(8, for: 1)
            served.add()
        }
        let other = Task { await allowance.reserve(8, for: 2) }
        #expect(served.count == 0)
        allowance.finishDelivery(of: 10)
        await next.value
        allowance.deliver(8, before: 2)
        allowance.finishDelivery(of: 8)
        await other.value
    }

    @Test func abandonedMemoryAllowanceServesAllLines() async {
        let allowance = Allowance<Int>(limit: 1)
        await allowance.reserve(1)
        let waiting = Task { await allowance.reserve(1) }
        allowance.abandon()
        await waiting.value
        await allowance.reserve(5)
    }
}
