import TestSupport
import Testing

@testable import webimage

@Suite(.timeLimit(.minutes(1)))
struct AllowanceTests {
    @Test func lineWaitsForItsMemoryAllowance() async {
        let allowance = Allowance(limit: 10)
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

    @Test func singleLineMayExceedTheMemoryAllowance() async {
        let allowance = Allowance(limit: 10)
        await allowance.reserve(100)
        let next = Task { await allowance.reserve(1) }
        allowance.release(100)
        await next.value
    }

    @Test func abandonedMemoryAllowanceServesAllLines() async {
        let allowance = Allowance(limit: 1)
        await allowance.reserve(1)
        let waiting = Task { await allowance.reserve(1) }
        allowance.abandon()
        await waiting.value
        await allowance.reserve(5)
    }
}
