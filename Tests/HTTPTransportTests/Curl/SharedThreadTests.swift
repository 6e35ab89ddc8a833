import LoopbackOrigin
import Synchronization
import TestSupport
import Testing
import Threading

@testable import HTTPTransport

/// Work of others on the thread of a transport.
@Suite(.timeLimit(.minutes(1)))
struct SharedThreadTests {
    /// Performs work that returns the number of its thread.
    private func thread(of transport: CurlTransport) async -> UInt? {
        await withCheckedContinuation { continuation in
            if !transport.perform({ continuation.resume(returning: currentThreadNumber()) }) {
                continuation.resume(returning: nil)
            }
        }
    }

    @Test func transportWithoutAThreadPerformsNoWork() async throws {
        #expect(await thread(of: CurlTransport(configuration: .init(proxy: .none, threadCount: 1))) == nil)
    }

    @Test func workIsPerformedOnTheThreadOfTransfers() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let transport = CurlTransport(configuration: .init(proxy: .none, threadCount: 1))
            let threadOfTransfer = Locked<UInt?>(nil)
            let recorder = Recorder { _, _ in
                threadOfTransfer.withLock { $0 = currentThreadNumber() }
                return .more
            }
            _ = try transport.start(origin.url("/a"), recorder)
            #expect(await recorder.end().isComplete)
            let thread = await thread(of: transport)
            #expect(thread != nil && thread == threadOfTransfer.withLock { $0 })
        }
    }

    @Test func workThatIsPendingWhenTheTransportIsReleasedIsPerformed() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
            let count = Atomic(0)
            do {
                let transport = CurlTransport(
                    configuration: .init(proxy: .none, threadCount: 1), whenThreadEnded: { continuation.finish() })
                #expect(try await transport.fetch(origin.url("/a")).isComplete)
                for _ in 0..<100 { #expect(transport.perform { count.add(1, ordering: .relaxed) }) }
            }
            for await _ in ended {}
            #expect(count.load(ordering: .relaxed) == 100)
        }
    }

    @Test func transportWithSeveralThreadsPerformsNoWork() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let gate = Gate()
            origin.route("/held", LoopbackOrigin.Response(body: pattern(10)).held(at: .body(5), until: gate))
            let transport = CurlTransport(configuration: .init(proxy: .none, threadCount: 4))
            let recorders = (0..<16).map { _ in Recorder() }
            for recorder in recorders { _ = try transport.start(origin.url("/held"), recorder) }
            await origin.counts { $0.runningRequests == 16 }
            #expect(await thread(of: transport) == nil)
            gate.open()
            for recorder in recorders { #expect(await recorder.end().isComplete) }
        }
    }
}
