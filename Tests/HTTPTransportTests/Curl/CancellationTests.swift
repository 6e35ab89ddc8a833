import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(2)))
struct CancellationTests {
    private func expectCancelled(_ record: Recorder.Record, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(record.error?.reason == .cancelled, sourceLocation: sourceLocation)
        #expect(record.outcomes.count == 1, sourceLocation: sourceLocation)
        #expect(record.callsAfterEnd == 0, sourceLocation: sourceLocation)
    }

    @Test func transferCanBeCanceledImmediatelyAfterTheStart() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            let recorder = Recorder()
            try transport.start(origin.url("/a"), recorder).cancel()
            expectCancelled(await recorder.end())
            #expect(await transport.transferCount == 0)
        }
    }

    @Test func transferCanBeCanceledDuringNameResolution() async throws {
        let gate = ThreadGate()
        defer { gate.open() }
        let looking = Tally()
        let resolver = ThreadedResolver { _ in
            looking.add()
            gate.wait()
            return ["127.0.0.1"]
        }
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let transport = CurlTransport(configuration: .init(proxy: .none, resolver: resolver))
            let recorder = Recorder()
            let transfer = try transport.start("http://stuck.example:\(origin.port)/a", recorder)
            await looking.reaches(1)
            // A stuck lookup delays neither other transfers nor the cancellation.
            #expect(try await transport.fetch(origin.url("/a")).body == [1])
            transfer.cancel()
            expectCancelled(await recorder.end())
            gate.open()
            #expect(await transport.transferCount == 0)
        }
    }

    @Test(arguments: [
        LoopbackOrigin.Response.Point.start, .insideHead, .body(0), .body(500),
    ])
    func transferCanBeCanceledWhileWaitingForAResponse(point: LoopbackOrigin.Response.Point) async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000)).stalled(at: point))
            let recorder = Recorder()
            let transfer = try transport.start(origin.url("/a"), recorder)
            await origin.requests(to: "/a", reach: 1)
            if case .body(let count) = point { await recorder.wait { !$0.heads.isEmpty && $0.body.count == count } }
            transfer.cancel()
            transfer.cancel()
            expectCancelled(await recorder.end())
            await origin.openConnections(become: 0)
        }
    }

    @Test func transferCanBeCanceledWhilePaused() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000_000)))
            let recorder = Recorder { _, _ in .pause }
            let transfer = try transport.start(origin.url("/a"), recorder)
            await recorder.wait { $0.pauses == 1 }
            transfer.cancel()
            transfer.resume()
            let record = await recorder.end()
            expectCancelled(record)
            #expect(record.body.isEmpty)
            // Nothing of it stays with the handle.
            #expect(try await transport.fetch(origin.url("/a")).body == pattern(1_000_000))
        }
    }

    @Test func cancellationAfterTheEndHasNoEffect() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let recorder = Recorder()
            let transfer = try transport.start(origin.url("/a"), recorder)
            #expect(await recorder.end().isComplete)
            transfer.cancel()
            #expect(try await transport.fetch(origin.url("/a")).isComplete)
            #expect(recorder.record.outcomes.count == 1)
        }
    }

    @Test func transferCanBeCanceledFromAReceiverCallback() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(5_000_000)))
            let transfer = Locked((any Transfer)?.none)
            let recorder = Recorder { received, _ in
                if received > 0 { transfer.withLock { $0 }?.cancel() }
                return transfer.withLock { $0 } == nil ? .pause : .more
            }
            let started = try transport.start(origin.url("/a"), recorder)
            await recorder.wait { $0.pauses == 1 }
            transfer.withLock { $0 = started }
            started.resume()
            let record = await recorder.end()
            expectCancelled(record)
            // The call in which it was canceled took its bytes; there was no other.
            #expect(record.body.count <= 2 * 65_536)
        }
    }

    @Test func cancellationAtRandomMomentsEndsEachTransferOnce() async throws {
        try await withOriginTwice { (origin, transport) async throws in
            origin.route("/big", LoopbackOrigin.Response(body: pattern(500_000)))
            origin.route("/chunked", LoopbackOrigin.Response(body: pattern(100_000), framing: .chunked))
            origin.route("/redirect", .redirect(to: "/big"))
            origin.route("/stalled", LoopbackOrigin.Response(body: pattern(10)).stalled(at: .insideHead))
            let paths = ["/big", "/chunked", "/redirect", "/stalled"]
            var random = SplitMix(seed: 1)
            for _ in 0..<20 {
                await withTaskGroup(of: Recorder.Record?.self) { group in
                    for _ in 0..<50 {
                        let yields = Int.random(in: 0..<200, using: &random)
                        let pauseAfter = Int.random(in: 0..<1_000_000, using: &random)
                        let url = origin.url(paths.randomElement(using: &random) ?? "/big")
                        group.addTask {
                            let recorder = Recorder { received, _ in received > pauseAfter ? .pause : .more }
                            guard let transfer = try? transport.start(url, recorder) else { return nil }
                            for _ in 0..<yields { await Task.yield() }
                            transfer.cancel()
                            return await recorder.end()
                        }
                    }
                    for await record in group {
                        #expect(record?.outcomes.count == 1)
                        #expect(record?.callsAfterEnd == 0)
                        if record?.isComplete == false { #expect(record?.error?.reason == .cancelled) }
                    }
                }
            }
            #expect(await transport.transferCount == 0)
            #expect(try await transport.fetch(origin.url("/big")).body == pattern(500_000))
        }
    }
}
