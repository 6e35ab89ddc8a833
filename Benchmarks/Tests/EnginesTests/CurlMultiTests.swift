import Engines
import LoopbackOrigin
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CurlMultiTests {
    @Test func allURLsAreFetchedOverAFewConnections() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", Response(body: [UInt8](repeating: 7, count: 10_000)))
            let run = try await CurlMulti.run(prefix: origin.url("/image?n="), count: 50, concurrency: 4)
            #expect(run.byteCount == 500_000)
            #expect(run.latencies.count == 50)
            #expect(!run.latencies.contains(0))
            #expect(Set(origin.recordedRequests.map(\.target)) == Set((0..<50).map { "/image?n=\($0)" }))
            #expect(origin.counts.openedConnections <= 4)
        }
    }

    @Test(arguments: [false, true])
    func runsOfOneLoopShareItsConnections(freesBodies: Bool) async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/large", Response(body: [UInt8](repeating: 7, count: 100_000)))
            origin.route("/small", Response(body: [UInt8](repeating: 7, count: 10)))
            let loop = try CurlMulti(CurlMulti.Options(concurrency: 2, freesBodies: freesBodies))
            let counts = [
                try await loop.run(.numbered(prefix: origin.url("/large?n="), count: 10)).byteCount,
                try await loop.run(.list([origin.url("/small"), origin.url("/large"), origin.url("/small")])).byteCount,
            ]
            #expect(counts == [1_000_000, 100_020])
            #expect(origin.counts.openedConnections <= 2)
        }
    }

    @Test func aLoopCanRunAgainAfterAFailure() async throws {
        try await withLoopbackOrigin { origin in
            origin.route("/image", Response(body: [7]))
            let loop = try CurlMulti(CurlMulti.Options(concurrency: 3))
            _ = await #expect(throws: EngineError.self) {
                try await loop.run(.numbered(prefix: origin.url("/missing?n="), count: 5))
            }
            #expect(try await loop.run(.list([origin.url("/image")])).byteCount == 1)
        }
    }

    @Test func curlMultiReportsErrorStatusAsError() async throws {
        try await withLoopbackOrigin { origin in
            _ = await #expect(throws: EngineError.self) {
                try await CurlMulti.run(prefix: origin.url("/missing?n="), count: 5, concurrency: 2)
            }
        }
    }
}
