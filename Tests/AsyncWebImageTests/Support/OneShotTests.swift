import Testing

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct OneShotTests {
    @Test func firstResultOfAOneShotIsKept() async throws {
        let answer = OneShot<Int>()
        #expect(!answer.isResolved)
        answer.resolve(.success(1))
        answer.resolve(.success(2))
        answer.resolve(.failure(CancellationError()))
        #expect(answer.isResolved)
        #expect(try await answer.value == 1)
    }

    @Test func allWaitersOfAOneShotGetTheResult() async throws {
        let answer = OneShot<Int>()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await answer.value } }
            group.addTask {
                answer.resolve(.success(5))
                return 5
            }
            for try await value in group { #expect(value == 5) }
        }
    }
}
