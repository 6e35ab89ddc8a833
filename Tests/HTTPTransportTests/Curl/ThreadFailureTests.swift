import LoopbackOrigin
import TestSupport
import Testing

@testable import HTTPTransport

/// Transports for which the system does not start every thread.
@Suite(.timeLimit(.minutes(2)))
struct ThreadFailureTests {
    @Test(arguments: [1, 4])
    func transferFailsIfNoThreadCanBeStartedAndALaterOneSucceeds(threadCount: Int) async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100)))
            let transport = CurlTransport(threadCount: threadCount) { $0 > 2 }
            for _ in 0..<2 {
                let recorder = Recorder()
                let transfer = try transport.start(origin.url("/a"), recorder)
                // There is no thread that could report it later.
                let error = try #require(recorder.record.error)
                #expect(error.reason == .threadStartFailed)
                #expect(error.isRetryable)
                #expect(error.url == origin.url("/a"))
                #expect(
                    error.description == "the system cannot start a thread for transfers; check the limits on threads "
                        + "and memory (Resource temporarily unavailable)")
                transfer.resume()
                transfer.cancel()
                #expect(recorder.record.outcomes.count == 1)
                #expect(transport.startedThreadCount == 0)
                #expect(await transport.transferCount == 0)
            }
            #expect(try await transport.fetch(origin.url("/a")).body == pattern(100))
            #expect(transport.startedThreadCount == 1)
        }
    }

    @Test func transfersShareTheFirstThreadIfNoOtherCanBeStarted() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            let gate = Gate()
            origin.route("/held", LoopbackOrigin.Response(body: pattern(10)).held(at: .body(5), until: gate))
            let transport = CurlTransport(threadCount: 4) { $0 == 1 }
            let recorders = (0..<16).map { _ in Recorder() }
            for recorder in recorders { _ = try transport.start(origin.url("/held"), recorder) }
            await origin.counts { $0.runningRequests == 16 }
            #expect(transport.startedThreadCount == 1)
            gate.open()
            for recorder in recorders { #expect(await recorder.end().isComplete) }
        }
    }

    @Test func threadsThatCannotBeStartedLeaveNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let transport = CurlTransport(threadCount: 1) { _ in false }
            func failTransfers(_ count: Int) async throws {
                for _ in 0..<count {
                    let record = try await transport.fetch("http://127.0.0.1:1/a")
                    #expect(record.error?.reason == .threadStartFailed)
                }
            }
            try await failTransfers(10)
            // Descriptors that the runtime and the libraries open once are open by then.
            let files = ProcessState.openFiles
            try await failTransfers(500)
            #expect(await ProcessState.reaches { ProcessState.openFiles.count <= files.count })
            #expect(ProcessState.threads(named: "webimage-").isEmpty)
        }
    }
}

extension CurlTransport {
    /// Creates a transport that starts a thread only if `starts` returns `true` for the number of the attempt, from 1.
    fileprivate convenience init(threadCount: Int, starts: @escaping @Sendable (_ attempt: Int) -> Bool) {
        self.init(
            configuration: Configuration(proxy: .none, threadCount: threadCount),
            startThread: limitedThreads(named: "webimage-curl", startedIf: starts))
    }
}
