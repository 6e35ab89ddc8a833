import HTTPTransport
import TestSupport
import Testing
import Threading

/// Servers and callers that do anything at any time.
@Suite(.timeLimit(.minutes(2)))
struct SharedChaosTests {
    @Test(arguments: 0..<12 as Range<UInt64>)
    func everyTransferEndsOnceWithItsOwnBodyOrAnError(seed: UInt64) async throws {
        let few = seed.isMultiple(of: 2)
        let fixture = try SharedFixture(
            maximumConnections: few ? 2 : nil, threadCount: seed.isMultiple(of: 3) ? 2 : 1)
        let random = Locked(SplitMix(seed: seed))
        @Sendable func chance(_ count: Int) -> Int { random.withLock { Int.random(in: 0..<count, using: &$0) } }
        let limit: UInt32? = few ? 3 : nil
        let servers = try (0..<2).map { _ in
            try fixture.server(
                maximumStreams: limit,
                accepted: { connection in
                    if chance(20) == 0 { connection.close() }
                }
            ) { connection, stream, path in
                let size = Int(path.dropFirst()) ?? 0
                switch chance(40) {
                case 0: connection.close(resets: true)
                case 1: connection.close()
                case 2: connection.peer.reset(stream, 7)
                case 3: connection.peer.reset(stream, 2)
                case 4: connection.peer.goAway(lastStream: stream)
                case 5: connection.peer.goAway(lastStream: max(0, stream - 4), 2)
                case 6: connection.corrupt()
                case 7: connection.send(.ping(stream: 3))
                case 8: connection.peer.ping()
                default: break
                }
                if !connection.isClosed { connection.respond(stream, body: pattern(size)) }
            }
        }
        let transport = fixture.transport
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<150 {
                let size = [number, 1_000 + number, 100_000 + number, 1_500_000 + number][chance(4)]
                let (cancels, pauses) = (chance(8) == 0, chance(3) == 0)
                let url = servers[chance(2)].url("/\(size)")
                group.addTask {
                    let recorder = Recorder { _, paused in pauses && paused < 3 ? .pause : .more }
                    let transfer = try transport.start(url, recorder)
                    if cancels, number.isMultiple(of: 2) { transfer.cancel() }
                    for count in 1...3 where pauses {
                        await recorder.wait { $0.pauses >= count || !$0.outcomes.isEmpty }
                        transfer.resume()
                    }
                    if cancels { transfer.cancel() }
                    let record = await recorder.end()
                    #expect(record.body == pattern(record.body.count))
                    if record.isComplete { #expect(record.body.count == size) }
                }
            }
            try await group.waitForAll()
        }
        #expect(await transport.transferCount == 0)
    }
}
