import Testing

@testable import AsyncWebImage

struct MemoryBudgetTests {
    @Test func memoryBudgetGrantsRequestsUpToItsLimit() {
        var budget = MemoryBudget(limit: 100)
        #expect(budget.request(60, id: 1) == .granted)
        #expect(budget.request(40, id: 2) == .granted)
        #expect(budget.request(1, id: 3) == .waiting)
        #expect(budget.used == 100)
    }

    @Test func requestLargerThanTheMemoryBudgetIsRejected() {
        var budget = MemoryBudget(limit: 100)
        #expect(budget.request(101, id: 1) == .impossible)
        #expect(budget.used == 0)
    }

    @Test func smallMemoryRequestsDoNotOvertakeTheFirstWaitingOne() {
        var budget = MemoryBudget(limit: 100)
        #expect(budget.request(60, id: 1) == .granted)
        #expect(budget.request(90, id: 2) == .waiting)
        #expect(budget.request(10, id: 3) == .waiting)
        #expect(budget.release(60) == [2, 3])
        #expect(budget.used == 100)
    }

    @Test func withdrawingFirstMemoryRequestGrantsTheNext() {
        var budget = MemoryBudget(limit: 100)
        #expect(budget.request(60, id: 1) == .granted)
        #expect(budget.request(90, id: 2) == .waiting)
        #expect(budget.request(40, id: 3) == .waiting)
        #expect(budget.withdraw(2) == [3])
        #expect(budget.withdraw(2) == nil)
        #expect(budget.used == 100)
    }

    @Test func memoryRequestAboveBudgetRunsAlone() {
        var budget = MemoryBudget(limit: 100, maximumRequest: 500)
        #expect(budget.request(60, id: 1) == .granted)
        #expect(budget.request(400, id: 2) == .waiting)
        #expect(budget.request(10, id: 3) == .waiting)
        #expect(budget.request(501, id: 4) == .impossible)
        #expect(budget.release(60) == [2])
        #expect(budget.request(10, id: 5) == .waiting)
        #expect(budget.release(400) == [3, 5])
        #expect(budget.used == 20)
    }
}
