import Engines
import LoopbackOrigin
import Testing

/// Tests of the requirements for every measured engine.
@Suite(.timeLimit(.minutes(1)))
struct EngineTests {
    private let body = [UInt8](repeating: 7, count: 100_000)

    @Test(arguments: EngineName.single)
    func engineDeliversWholeBody(name: EngineName) async throws {
        try await withEngine(name) { engine, origin in
            origin.route("/whole", Response(body: body))
            origin.route("/chunked", Response(body: body, framing: .chunked))
            for path in ["/whole", "/chunked"] {
                let count = try await engine.fetch(origin.url(path))
                #expect(count == body.count)
            }
        }
    }

    @Test(arguments: EngineName.single, [404, 503])
    func engineReportsErrorStatusAsError(name: EngineName, status: Int) async throws {
        try await withEngine(name) { engine, origin in
            origin.route("/", Response(status: status, body: body))
            await #expect(throws: (any Error).self) { try await engine.fetch(origin.url("/")) }
        }
    }

    @Test(arguments: EngineName.single)
    func bodyCutShortIsAnError(name: EngineName) async throws {
        try await withEngine(name) { engine, origin in
            origin.route("/", Response(body: body).cut(at: .body(50_000)))
            await #expect(throws: (any Error).self) { try await engine.fetch(origin.url("/")) }
        }
    }

    @Test(arguments: EngineName.single)
    func invalidURLIsAnError(name: EngineName) async throws {
        try await withEngine(name) { engine, _ in
            await #expect(throws: (any Error).self) { try await engine.fetch("http://") }
        }
    }

    /// Responses are never from a cache.
    @Test(arguments: EngineName.single)
    func everyFetchSendsOneRequest(name: EngineName) async throws {
        try await withEngine(name) { engine, origin in
            origin.route("/", Response(headerFields: ["Cache-Control": "max-age=3600"], body: body))
            for _ in 1...3 { _ = try await engine.fetch(origin.url("/")) }
            #expect(origin.counts.totalRequests == 3)
        }
    }

    @Test(arguments: EngineName.single)
    func connectionsAreReusedWithinTheirLimit(name: EngineName) async throws {
        try await withEngine(name, concurrency: 4) { engine, origin in
            origin.route("/*", Response(body: body))
            let total = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<40 { group.addTask { try await engine.fetch(origin.url("/\(number)")) } }
                return try await group.reduce(0, +)
            }
            #expect(total == 40 * body.count)
            #expect(origin.counts.totalRequests == 40)
            #expect(origin.counts.maximumRunningRequests <= 4)
            #expect(origin.counts.openedConnections <= 4)
        }
    }
}
