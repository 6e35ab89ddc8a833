import TestSupport
import Testing
import Threading

@testable import AsyncWebImage

@Suite(.timeLimit(.minutes(1)))
struct ImageDecoderTests {
    private func decoder(budget: Int) -> ImageDecoder {
        ImageDecoder(configuration: .init(threadCount: 2, memoryBudget: budget))
    }

    @Test func decodeMemoryIsReleasedAfterAnError() async throws {
        struct Failure: Error {}
        let decoder = decoder(budget: 100)
        await #expect(throws: Failure.self) {
            try await decoder.withMemory(100) { throw Failure() }
        }
        #expect(await decoder.memoryInUse == 0)
    }

    @Test func decodeMemoryIsGrantedInOrder() async throws {
        let decoder = decoder(budget: 100)
        let entered = OneShot<Void>()
        let leave = OneShot<Void>()
        let first = Task {
            try await decoder.withMemory(80) {
                entered.resolve(.success(()))
                try await leave.value
            }
        }
        try await entered.value
        let second = Task { try await decoder.withMemory(80) { await decoder.memoryInUse } }
        leave.resolve(.success(()))
        #expect(try await second.value == 80)
        try await first.value
        #expect(await decoder.memoryInUse == 0)
    }

    @Test func cancelingAWaitingMemoryRequestWithdrawsIt() async throws {
        let decoder = decoder(budget: 100)
        try await decoder.withMemory(100) {
            let waiting = Task { try await decoder.withMemory(10) {} }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(await decoder.memoryInUse == 0)
        try await decoder.withMemory(100) {}
    }

    @Test func decodeThatNeedsMoreThanTheMemoryBudgetFails() async throws {
        let decoder = decoder(budget: 100)
        await #expect(throws: CodecError.overLimit(.memory, value: 101, limit: 100)) {
            try await decoder.withMemory(101) {}
        }
    }

    /// A decode that has requested memory from the actor must not run on the actor.
    @Test func concurrentDecodesAreLimitedByThreadCount() async throws {
        let decoder = ImageDecoder(configuration: .init(threadCount: 2))
        let arrivals = [BlockingQueue<Void>(), BlockingQueue<Void>()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<2 {
                group.addTask(executorPreference: decoder.threads) {
                    try await decoder.withMemory(10) {
                        // Occupies its thread until the other one does the same.
                        arrivals[index].close()
                        _ = arrivals[1 - index].next()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func performedWorkRunsOnTheDecodersThreadsAndReturnsItsResult() async throws {
        let decoder = decoder(budget: 100)
        let name = await decoder.perform { ProcessState.threadName }
        #expect(name == "webimage-decode")
    }

    @Test func errorsOfPerformedWorkAreThrown() async throws {
        struct Failure: Error {}
        let decoder = decoder(budget: 100)
        await #expect(throws: Failure.self) { try await decoder.perform { () throws(Failure) in throw Failure() } }
    }
}
