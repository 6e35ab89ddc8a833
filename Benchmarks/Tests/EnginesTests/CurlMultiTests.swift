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

    @Test func curlMultiReportsErrorStatusAsError() async throws {
        try await withLoopbackOrigin { origin in
            _ = await #expect(throws: EngineError.self) {
                try await CurlMulti.run(prefix: origin.url("/missing?n="), count: 5, concurrency: 2)
            }
        }
    }
}
