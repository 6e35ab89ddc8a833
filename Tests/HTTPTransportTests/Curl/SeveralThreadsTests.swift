import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing
import Threading

@testable import HTTPTransport

/// A transport with four threads.
@Suite(.timeLimit(.minutes(1)))
struct SeveralThreadsTests {
    private func withOrigin(
        _ configuration: CurlTransport.Configuration = .init(proxy: .none, threadCount: 4),
        _ body: (LoopbackOrigin, CurlTransport) async throws -> Void
    ) async throws {
        try await withLoopbackOrigin { origin in
            try await body(origin, CurlTransport(configuration: configuration))
        }
    }

    /// Occupies all threads with transfers of `/held`, which end when the gate is opened.
    private func occupy(
        _ transport: CurlTransport, _ origin: LoopbackOrigin, _ gate: Gate, count: Int = 16
    ) async throws -> [Recorder] {
        origin.route("/held", LoopbackOrigin.Response(body: pattern(1_000)).held(at: .body(500), until: gate))
        let recorders = (0..<count).map { _ in Recorder() }
        for recorder in recorders { _ = try transport.start(origin.url("/held"), recorder) }
        await origin.counts { $0.runningRequests == count }
        return recorders
    }

    @Test func sequentialRequestsReuseOneConnectionOnOneThread() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100)))
            for number in 0..<20 {
                let record = try await transport.fetch(origin.url("/a"))
                #expect(record.metrics?.reusedConnection == (number > 0))
            }
            #expect(origin.counts.openConnections == 1)
            #expect(transport.startedThreadCount == 1)
        }
    }

    @Test func concurrentTransfersAreSpreadOverThreads() async throws {
        try await withOrigin { (origin, transport) async throws in
            let gate = Gate()
            let recorders = try await occupy(transport, origin, gate)
            #expect(transport.startedThreadCount == 4)
            #expect(await transport.transferCount == 16)
            gate.open()
            for recorder in recorders { #expect(await recorder.end().body == pattern(1_000)) }
            #expect(await transport.transferCount == 0)
        }
    }

    @Test func openConnectionsDoNotExceedTheLimitOfAllThreads() async throws {
        try await withOrigin(.init(maximumConnections: 6, proxy: .none, threadCount: 4)) {
            (origin, transport) async throws in
            let gate = Gate()
            let recorders = try await occupy(transport, origin, gate, count: 6)
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100)))
            let waiting = (0..<10).map { _ in Recorder() }
            for recorder in waiting { _ = try transport.start(origin.url("/a"), recorder) }
            #expect(await transport.transferCount == 16)
            #expect(origin.counts.openConnections == 6)
            #expect(origin.recordedRequests(to: "/a").isEmpty)
            gate.open()
            for recorder in recorders + waiting { #expect(await recorder.end().isComplete) }
            #expect(origin.counts.openConnections <= 6)
        }
    }

    @Test func aHostIsLookedUpOnceForAllThreads() async throws {
        let keeper = Gatekeeper()
        let resolver = ThreadedResolver { host throws(LookupFailure) in try keeper.lookup(host) }
        try await withOrigin(.init(proxy: .none, resolver: resolver, threadCount: 4)) {
            (origin, transport) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: pattern(100)))
            let recorders = (0..<16).map { _ in Recorder() }
            for recorder in recorders { _ = try transport.start("http://a.example:\(origin.port)/a", recorder) }
            await keeper.lookups(reach: 1)
            #expect(await transport.transferCount == 16)
            keeper.open()
            for recorder in recorders { #expect(await recorder.end().isComplete) }
            #expect(transport.startedThreadCount == 4)
            #expect(keeper.counts.withLock { $0.lookups } == ["a.example"])
        }
    }

    @Test func cookiesOfOneThreadAreSentByTheOthers() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/set", .init(headerFields: ["Set-Cookie": "taste=sweet; Path=/"], body: [1]))
            #expect(try await transport.fetch(origin.url("/set")) { $0.handlesCookies = true }.isComplete)
            let gate = Gate()
            origin.route("/held", LoopbackOrigin.Response(body: [1, 2]).held(at: .body(1), until: gate))
            let recorders = (0..<16).map { _ in Recorder() }
            for recorder in recorders {
                _ = try transport.start(origin.url("/held"), recorder) { $0.handlesCookies = true }
            }
            await origin.counts { $0.runningRequests == 16 }
            #expect(transport.startedThreadCount == 4)
            gate.open()
            for recorder in recorders { #expect(await recorder.end().isComplete) }
            #expect(origin.recordedRequests(to: "/held").allSatisfy { $0.headerFields["Cookie"] == "taste=sweet" })
        }
    }

    @Test func cookieFileIsKnownToAllThreads() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("cookies-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try "127.0.0.1\tFALSE\t/\tFALSE\t0\ttaste\tsour\n".write(to: file, atomically: true, encoding: .utf8)
        try await withOrigin(.init(proxy: .none, cookieFile: file.path, threadCount: 4)) {
            (origin, transport) async throws in
            origin.route("/a", .init(body: [1]))
            let recorders = (0..<64).map { _ in Recorder() }
            for recorder in recorders {
                _ = try transport.start(origin.url("/a"), recorder) { $0.handlesCookies = true }
            }
            for recorder in recorders { #expect(await recorder.end().isComplete) }
            #expect(origin.recordedRequests(to: "/a").allSatisfy { $0.headerFields["Cookie"] == "taste=sour" })
        }
    }

    @Test func providerIsAskedOnceForTheTransfersOfAllThreads() async throws {
        let asked = Locked(0)
        let released = Tally()
        let provider = HeldProvider(asked: asked, released: released)
        try await withOrigin(.init(proxy: .none, credentialProvider: provider, threadCount: 4)) {
            (origin, transport) async throws in
            origin.guardByBasic("/a")
            let recorders = (0..<16).map { _ in Recorder() }
            for recorder in recorders { _ = try transport.start(origin.url("/a"), recorder) }
            await origin.requests(to: "/a", reach: 16)
            released.add()
            for recorder in recorders { #expect(await recorder.end().body == [1]) }
            #expect(transport.startedThreadCount == 4)
            #expect(asked.withLock { $0 } == 1)
        }
    }

    @Test func canceledAndRedirectedTransfersOfAllThreadsEnd() async throws {
        try await withOrigin { (origin, transport) async throws in
            origin.route("/redirect", .redirect(to: "/held"))
            let gate = Gate()
            origin.route("/held", LoopbackOrigin.Response(body: pattern(1_000)).held(at: .body(500), until: gate))
            let recorders = (0..<32).map { _ in Recorder() }
            let transfers = try recorders.map { try transport.start(origin.url("/redirect"), $0) }
            await origin.counts { $0.runningRequests == 32 }
            for transfer in transfers.prefix(16) { transfer.cancel() }
            for recorder in recorders.prefix(16) { #expect(await recorder.end().error?.reason == .cancelled) }
            gate.open()
            for recorder in recorders.dropFirst(16) { #expect(await recorder.end().body == pattern(1_000)) }
            #expect(await transport.transferCount == 0)
        }
    }

    @Test func releasedTransportLeavesNoThreadOrDescriptor() async {
        await #expect(processExitsWith: .success) {
            try await withLoopbackOrigin { (origin) async throws in
                origin.route("/a", LoopbackOrigin.Response(body: pattern(1_000)))
                let files = ProcessState.openFiles
                for _ in 0..<10 {
                    let transport = CurlTransport(configuration: .init(proxy: .none, threadCount: 4))
                    let recorders = (0..<64).map { _ in Recorder() }
                    for recorder in recorders { _ = try transport.start(origin.url("/a"), recorder) }
                    for recorder in recorders { #expect(await recorder.end().isComplete) }
                    #expect(transport.startedThreadCount == 4)
                }
                #expect(await ProcessState.reaches { ProcessState.threads(named: "webimage-").isEmpty })
                #expect(await ProcessState.reaches { ProcessState.openFiles.count <= files.count })
            }
        }
    }

    @Test func transfersRunOnTheFirstThreadIfThereAreNoDescriptorsForOthers() async {
        await #expect(processExitsWith: .success) {
            try await withLoopbackOrigin { (origin) async throws in
                let gate = Gate()
                origin.route("/held", LoopbackOrigin.Response(body: pattern(10)).held(at: .body(5), until: gate))
                let transport = CurlTransport(configuration: .init(proxy: .none, threadCount: 4))
                let recorders = (0..<4).map { _ in Recorder() }
                for recorder in recorders { _ = try transport.start(origin.url("/held"), recorder) }
                await origin.counts { $0.runningRequests == 4 }
                let limit = OpenFileLimit.current
                OpenFileLimit.set(0)
                // It waits for a connection of the others.
                let waiting = Recorder()
                _ = try transport.start(origin.url("/held"), waiting)
                #expect(await transport.transferCount == 5)
                #expect(transport.startedThreadCount == 1)
                OpenFileLimit.set(limit)
                gate.open()
                for recorder in recorders + [waiting] { #expect(await recorder.end().isComplete) }
                for _ in 0..<3 { #expect(try await transport.fetch(origin.url("/held")).isComplete) }
                #expect(transport.startedThreadCount == 1)
            }
        }
    }
}

/// HTTP/2 and HTTP/1.1 over TLS on a transport with four threads.
@Suite(.enabled(if: NginxServer.isAvailable, "nginx and openssl are needed"), .timeLimit(.minutes(1)))
struct SeveralThreadsSecureTests {
    private func connections(_ port: Int, _ server: SecureServer, _ count: Int) async throws -> Set<String?> {
        let transport = CurlTransport(
            configuration: .init(
                proxy: .none, tls: .init(certificateAuthorityFile: server.certificateAuthorityFile), threadCount: 4))
        let url = "https://127.0.0.1:\(port)/small"
        let name = try #require(HTTPField.Name("X-Connection"))
        var connections: Set<String?> = []
        for _ in 0..<3 {
            let records = try await withThrowingTaskGroup(of: Recorder.Record.self) { group in
                for _ in 0..<count { group.addTask { try await transport.fetch(url) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(records.allSatisfy { $0.body == SecureServer.small })
            connections.formUnion(records.map { $0.head?.response.headerFields[name] })
        }
        return connections
    }

    @Test func transfersShareOneConnectionOfHTTP2() async throws {
        let server = try await SecureServer()
        // Fewer transfers than one thread may have connections.
        #expect(try await connections(server.port, server, 60).count == 1)
    }

    @Test func transfersOfHTTP1HaveConnectionsOfTheirOwn() async throws {
        let server = try await SecureServer()
        #expect(try await connections(server.portOfHTTP1, server, 30).count > 1)
    }
}

/// A provider that answers once it is released.
private struct HeldProvider: CredentialProvider {
    let asked: Locked<Int>
    let released: Tally

    func credential(for challenge: CredentialChallenge) async throws -> Credential? {
        asked.withLock { $0 += 1 }
        await released.reaches(1)
        return .basic(user: "me", password: "secret")
    }
}
