import HTTPTransport
import LoopbackOrigin
import Testing
import Threading

@Suite(.timeLimit(.minutes(2)))
struct FlowControlTests {
    @Test func pausedTransferStopsTheOrigin() async throws {
        let body = pattern(32 << 20)
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/big", LoopbackOrigin.Response(body: body))
            origin.route("/small", LoopbackOrigin.Response(body: [1]))
            let recorder = Recorder { received, _ in received > 100_000 ? .pause : .more }
            let transfer = try transport.start(origin.url("/big"), recorder)
            await recorder.wait { $0.pauses == 1 }
            // In these turns of the transport, much more would arrive if the transfer were not paused.
            for _ in 0..<300 { _ = try await transport.fetch(origin.url("/small")) }
            #expect(origin.counts.bodyBytesSent["/big", default: 0] < 16 << 20)
            #expect(recorder.record.pauses == 1)
            recorder.takeAll()
            transfer.resume()
            let record = await recorder.end()
            #expect(record.isComplete)
            // The differences of bodies of this size would take minutes to find.
            let isSame = record.body == body
            #expect(isSame)
            #expect(record.metrics?.bodyBytes == body.count)
        }
    }

    @Test(arguments: [LoopbackOrigin.Response.Framing.contentLength, .chunked, .untilClose])
    func aHundredPausesLoseAndDoubleNothing(framing: LoopbackOrigin.Response.Framing) async throws {
        let body = pattern(3_000_001)
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/big", LoopbackOrigin.Response(body: body, framing: framing))
            // Every other offer is refused.
            let refuses = Locked(false)
            let recorder = Recorder { _, _ in
                refuses.withLock { refuses in
                    refuses.toggle()
                    return refuses ? .pause : .more
                }
            }
            let transfer = try transport.start(origin.url("/big"), recorder)
            var pauses = 0
            while true {
                let seen = pauses
                await recorder.wait { $0.pauses > seen || !$0.outcomes.isEmpty }
                pauses = recorder.record.pauses
                if !recorder.record.outcomes.isEmpty { break }
                transfer.resume()
            }
            let record = await recorder.end()
            #expect(record.isComplete)
            #expect(record.body == body)
            #expect(pauses > 30)
        }
    }

    @Test func resumingWithoutAPauseDoesNothing() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100_000)))
            let recorder = Recorder()
            let transfer = try transport.start(origin.url("/a"), recorder)
            for _ in 0..<100 { transfer.resume() }
            #expect(await recorder.end().body == pattern(100_000))
            transfer.resume()
        }
    }

    @Test func receiverCanStopTheTransferWhenResumed() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/big", LoopbackOrigin.Response(body: pattern(1_000_000)))
            let recorder = Recorder { _, pauses in pauses == 0 ? .pause : .stop }
            let transfer = try transport.start(origin.url("/big"), recorder)
            await recorder.wait { $0.pauses == 1 }
            transfer.resume()
            let record = await recorder.end()
            #expect(record.wasStopped)
            #expect(record.outcomes.count == 1)
        }
    }

    @Test func receiverCanCallTheTransportFromItsCallbacks() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let body = pattern(200_000)
            origin.route("/a", LoopbackOrigin.Response(body: body))
            let request = TransportRequest(url: try HTTPURL(origin.url("/a")))
            let second = Recorder()
            let transfer = Locked((any Transfer)?.none)
            // Resumes itself at once whenever it pauses, and starts another transfer at its end.
            let refuses = Locked(false)
            let first = Recorder(
                script: { _, _ in
                    let refused = refuses.withLock { refuses in
                        refuses.toggle()
                        return refuses
                    }
                    if refused { transfer.withLock { $0 }?.resume() }
                    return refused ? .pause : .more
                },
                onEnd: { [weak transport] in _ = transport?.start(request, receiver: second) })
            let started = transport.start(request, receiver: first)
            transfer.withLock { $0 = started }
            started.resume()
            #expect(await first.end().body == body)
            #expect(await second.end().body == body)
        }
    }
}
