import KqueuePolling
import LoopbackOrigin
import Testing

@testable import HTTPTransport

/// The transport with the poller of another system.
@Suite(.timeLimit(.minutes(1)))
struct SystemPollerTests {
    @Test func transfersRunOnKqueue() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let slow = LoopbackOrigin.Response(body: pattern(2_000)).paced(bytesPerSecond: 20_000, chunk: 500)
            origin.route("/slow", slow)
            origin.route("/large", LoopbackOrigin.Response(body: pattern(300_000)))
            let transport = CurlTransport(configuration: .init(proxy: .none), poller: KqueuePoller.self)
            // Connections are used again in the later rounds.
            for _ in 0..<3 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<20 {
                        let (path, size) = index.isMultiple(of: 5) ? ("/slow", 2_000) : ("/large", 300_000)
                        group.addTask {
                            let record = try await transport.fetch(origin.url(path))
                            #expect(record.body == pattern(size))
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test func deadlinesAndCancellationWorkOnKqueue() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let gate = Gate()
            origin.route("/held", LoopbackOrigin.Response(body: pattern(1_000)).held(at: .body(400), until: gate))
            let transport = CurlTransport(configuration: .init(proxy: .none), poller: KqueuePoller.self)
            let late = try await transport.fetch(origin.url("/held")) { $0.deadlines.idle = .milliseconds(100) }
            #expect(late.error?.reason == .timedOut(.idle))
            let recorder = Recorder()
            let transfer = try transport.start(origin.url("/held"), recorder)
            await recorder.wait { $0.body.count == 400 }
            transfer.cancel()
            #expect(await recorder.end().error?.reason == .cancelled)
            gate.open()
        }
    }
}
