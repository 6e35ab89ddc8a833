import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import HTTPTransport

/// The threads and descriptors of transports, in separate processes without other tests.
@Suite(.timeLimit(.minutes(2)))
struct LifetimeTests {
    @Test func releasedTransportLeavesNoThreadOrDescriptor() async {
        await #expect(processExitsWith: .success) {
            try await withLoopbackOrigin { (origin) async throws in
                origin.route("/a", LoopbackOrigin.Response(body: pattern(100_000)))
                origin.route("/redirect", .redirect(to: "/a"))
                origin.route("/stalled", LoopbackOrigin.Response(body: pattern(10)).stalled(at: .body(1)))
                origin.route("/cut", LoopbackOrigin.Response(body: pattern(10)).cut(at: .body(1)))
                let files = ProcessState.openFiles
                for _ in 0..<20 {
                    let transport = CurlTransport(configuration: .init(proxy: .none))
                    _ = try await transport.fetch(origin.url("/redirect"))
                    _ = try await transport.fetch(origin.url("/cut"))
                    _ = try await transport.fetch("http://localhost:\(origin.port)/a")
                    _ = try await transport.fetch("http://nonexistent.invalid/")
                    let stalled = Recorder()
                    let transfer = try transport.start(origin.url("/stalled"), stalled)
                    await stalled.wait { !$0.heads.isEmpty }
                    transfer.cancel()
                    _ = await stalled.end()
                    #expect(await transport.transferCount == 0)
                }
                #expect(await ProcessState.reaches { ProcessState.threads(named: "webimage-").isEmpty })
                #expect(await ProcessState.reaches { ProcessState.openFiles.count <= files.count })
            }
        }
    }

    @Test func aTransferOutlivesTheLastReferenceToItsTransport() async {
        await #expect(processExitsWith: .success) {
            try await withLoopbackOrigin { (origin) async throws in
                let gate = Gate()
                origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000)).held(at: .body(500), until: gate))
                let recorder = Recorder()
                _ = try CurlTransport(configuration: .init(proxy: .none)).start(origin.url("/a"), recorder)
                await recorder.wait { !$0.body.isEmpty }
                gate.open()
                #expect(await recorder.end().body == pattern(1_000))
                #expect(await ProcessState.reaches { ProcessState.threads(named: "webimage-").isEmpty })
            }
        }
    }

    @Test func unusedTransportHasNoThreadAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            // Descriptors that the runtime opens once are open by then.
            _ = CurlTransport(configuration: .init(proxy: .none))
            let files = ProcessState.openFiles
            let transports = (0..<500).map { _ in CurlTransport(configuration: .init(proxy: .none)) }
            #expect(ProcessState.threads(named: "webimage-").isEmpty)
            #expect(await ProcessState.reaches { ProcessState.openFiles.count <= files.count })
            #expect(transports.allSatisfy { $0.startedThreadCount == 0 })
        }
    }

    @Test func transportsReleasedAfterOneFailureLeaveNoThreadOrDescriptor() async {
        await #expect(processExitsWith: .success) {
            func useTransports(_ count: Int) async throws -> Bool {
                for _ in 0..<count {
                    _ = try await CurlTransport(configuration: .init(proxy: .none)).fetch("http://127.0.0.1:1/a")
                }
                return await ProcessState.reaches { ProcessState.threads(named: "webimage-").isEmpty }
            }
            let hasNoThreads = try await useTransports(10)
            #expect(hasNoThreads)
            // Descriptors that the runtime and the libraries open once are open by then.
            let files = ProcessState.openFiles
            let stillHasNoThreads = try await useTransports(500)
            #expect(stillHasNoThreads)
            #expect(await ProcessState.reaches { ProcessState.openFiles.count <= files.count })
        }
    }

    @Test(.enabled(if: ProcessState.raiseDescriptorLimit() >= 8_192, "as many descriptors are needed"))
    func thousandsOfTransfersRunOnOneThread() async {
        await #expect(processExitsWith: .success) {
            ProcessState.raiseDescriptorLimit()
            try await withLoopbackOrigin { (origin) async throws in
                let gate = Gate()
                origin.route("/a", LoopbackOrigin.Response(body: pattern(20_000)).held(at: .body(10_000), until: gate))
                let transport = CurlTransport(configuration: .init(proxy: .none, threadCount: 1))
                let recorders = (0..<2_000).map { _ in Recorder() }
                for recorder in recorders {
                    // With the thread sanitizer, the last ones begin after a minute.
                    _ = try transport.start(origin.url("/a"), recorder) {
                        $0.deadlines = Deadlines(lookup: nil, connect: nil, firstByte: nil, idle: nil)
                    }
                }
                await origin.counts { $0.runningRequests == 2_000 }
                #expect(await transport.transferCount == 2_000)
                #expect(ProcessState.threads(named: "webimage-").count == 1)
                gate.open()
                for recorder in recorders { #expect(await recorder.end().body == pattern(20_000)) }
                #expect(await transport.transferCount == 0)
            }
        }
    }
}
