import Engines
import LoopbackOrigin
import Testing

@testable import Scenarios

@Suite(.timeLimit(.minutes(1))) struct LoadTests {
    @Test(arguments: [EngineName.actor, .curlMulti])
    func aClosedLoopFetchesEveryURLOnce(engine: EngineName) async throws {
        try await withOrigin(bodies: [1_000]) { origin, loopback in
            let load = ClosedLoop(prefix: origin.url("body-1000?n="), requests: 25, concurrency: 4)
            let run = try await load.run(on: engine)
            #expect(run.bodyBytes == 25_000)
            #expect(run.latencies.count == 25)
            let queries = loopback.recordedRequests.compactMap(\.query)
            for number in 0..<25 { #expect(queries.filter { $0 == "n=\(number)" }.count == 1) }
        }
    }

    @Test func rushSendsOneRequestForEachURL() async throws {
        try await withOrigin(bodies: [8_192]) { origin, loopback in
            let rush = Rush(
                warmUpPrefix: origin.url("body-8192?warm="),
                prefix: origin.url("body-8192", bytesPerSecond: 16_384) + "?n=", urls: 3, callers: 30)
            let run = try await rush.run(on: .actor)
            #expect(run.bodyBytes == 30 * 8_192)
            #expect(run.warmUpRequests == 3)
            #expect(loopback.recordedRequests.count == 6)
        }
    }

    @Test func everyCancelingCallerIsNotifiedAndTheOtherReceivesTheBody() async throws {
        try await withLoopbackOrigin { loopback in
            // No caller gets data before the benchmark counts the remaining transfers.
            let gate = Gate()
            loopback.route("/slow", LoopbackOrigin.Response(body: [1, 2, 3]).held(at: .body(0), until: gate))
            loopback.route("/\(Origin.statusName)") { _ in
                gate.open()
                let text = OriginStatus.text(openConnections: 2, accepted: 5, requests: 5, running: 2)
                return LoopbackOrigin.Response(body: Array(text.utf8))
            }
            let callers = CancelingCallers(
                origin: Origin(port: UInt16(loopback.port)), prefix: loopback.url("/slow?n="), urls: 5, callers: 50,
                window: .milliseconds(20))
            let type = try #require(EngineName.actor.type as? any SharingEngine.Type)
            let (run, _) = try await callers.run(on: type, concurrency: 5)
            #expect(run.callersTold == 49)
            #expect(run.bodyBytes == 3)
            #expect(run.transfersLeft == 0)
        }
    }
}
