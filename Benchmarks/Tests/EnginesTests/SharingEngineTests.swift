import Engines
import LoopbackOrigin
import Testing

/// Tests of callers that share a download, and cancel one by one.
@Suite(.timeLimit(.minutes(1)))
struct SharingEngineTests {
    private let body = [UInt8](repeating: 7, count: 10_000)

    private func withSharingEngine(
        _ name: EngineName, concurrency: Int = 6, _ body: (any SharingEngine, LoopbackOrigin) async throws -> Void
    ) async throws {
        try await withEngine(name, concurrency: concurrency) { engine, origin in
            try await body(#require(engine as? any SharingEngine), origin)
        }
    }

    @Test(arguments: EngineName.sharing)
    func hundredCallersMakeOneRequest(name: EngineName) async throws {
        try await withSharingEngine(name) { engine, origin in
            let gate = Gate()
            origin.route("/", Response(body: body).held(at: .body(5_000), until: gate))
            let callers = (1...100).map { _ in engine.caller(of: origin.url("/")) }
            await engine.callers(become: 100)
            gate.open()
            for caller in callers {
                let count = try await caller.value()
                #expect(count == body.count)
            }
            #expect(origin.counts.totalRequests == 1)
            await engine.callers(become: 0)
            await engine.becomesIdle()
        }
    }

    /// Some callers join just when a download ends.
    @Test(arguments: EngineName.sharing)
    func everyCallerReceivesAResult(name: EngineName) async throws {
        try await withSharingEngine(name) { engine, origin in
            origin.route("/*", Response(body: body))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        for _ in 0..<50 {
                            let count = try await engine.fetch(origin.url("/\(number % 2)"))
                            #expect(count == body.count)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(origin.counts.totalRequests <= 400)
        }
    }

    @Test(arguments: EngineName.sharing, [0, 1])
    func cancelingOneCallerDoesNotAffectTheOther(name: EngineName, cancelled: Int) async throws {
        try await withSharingEngine(name) { engine, origin in
            let gate = Gate()
            origin.route("/", Response(body: body).held(at: .body(5_000), until: gate))
            let callers = (0...1).map { _ in engine.caller(of: origin.url("/")) }
            await engine.callers(become: 2)
            callers[cancelled].cancel()
            await engine.callers(become: 1)
            await #expect(throws: CancellationError.self) { try await callers[cancelled].value() }
            gate.open()
            let count = try await callers[1 - cancelled].value()
            #expect(count == body.count)
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test(arguments: EngineName.sharing)
    func cancelingTheLastCallerStopsTheTransfer(name: EngineName) async throws {
        try await withSharingEngine(name) { engine, origin in
            origin.route("/", Response(body: body).stalled(at: .body(5_000)))
            let callers = (1...3).map { _ in engine.caller(of: origin.url("/")) }
            await engine.callers(become: 3)
            await origin.bodyBytesSent(to: "/", reach: 5_000)
            for caller in callers { caller.cancel() }
            await origin.openConnections(become: 0)
            for caller in callers { await #expect(throws: CancellationError.self) { try await caller.value() } }
            await engine.becomesIdle()
            #expect(origin.counts.totalRequests == 1)
        }
    }

    @Test(arguments: EngineName.sharing)
    func callerAfterLastCancellationStartsNewDownload(name: EngineName) async throws {
        try await withSharingEngine(name) { engine, origin in
            origin.route("/", [Response(body: body).stalled(at: .body(5_000)), Response(body: body)])
            let first = engine.caller(of: origin.url("/"))
            await origin.requests(to: "/", reach: 1)
            first.cancel()
            await engine.callers(become: 0)
            let count = try await engine.caller(of: origin.url("/")).value()
            #expect(count == body.count)
        }
    }

    @Test(arguments: EngineName.sharing)
    func requestCanceledInQueueIsNeverSentAndTakesNoSlot(name: EngineName) async throws {
        try await withSharingEngine(name, concurrency: 1) { engine, origin in
            let gate = Gate()
            origin.route("/first", Response(body: body).held(at: .start, until: gate))
            origin.route("/last", Response(body: body))
            let first = engine.caller(of: origin.url("/first"))
            await origin.requests(to: "/first", reach: 1)
            let waiting = (1...20).map { engine.caller(of: origin.url("/waiting/\($0)")) }
            await engine.callers(become: 21)
            for caller in waiting { caller.cancel() }
            await engine.callers(become: 1)
            gate.open()
            let counts = [try await first.value(), try await engine.fetch(origin.url("/last"))]
            #expect(counts == [body.count, body.count])
            #expect(origin.counts.totalRequests == 2)
            await engine.becomesIdle()
        }
    }
}
