import Glibc
import LoopbackOrigin
import SocketPolling
import TestSupport
import Testing
import Threading

@testable import HTTPTransport

/// Transports in separate processes whose file descriptors run out.
@Suite(.timeLimit(.minutes(2)))
struct OpenFileLimitTests {
    @Test func transportRecoversWhenDescriptorsBecomeAvailable() async {
        await #expect(processExitsWith: .success) {
            try await withLoopbackOrigin { (origin) async throws in
                origin.route("/a", LoopbackOrigin.Response(body: pattern(100)))
                let limit = OpenFileLimit.current
                OpenFileLimit.set(0)
                let transport = CurlTransport(configuration: .init(proxy: .none))
                for _ in 0..<3 {
                    let record = try await transport.fetch(origin.url("/a"))
                    let error = try #require(record.error)
                    #expect(error.reason == .tooManyOpenFiles)
                    #expect(error.isRetryable)
                    #expect(error.description == "too many files are open")
                }
                #expect(await transport.transferCount == 0)
                OpenFileLimit.set(limit)
                #expect(try await transport.fetch(origin.url("/a")).body == pattern(100))
            }
        }
    }

    @Test func missingDescriptorFailsOnlyItsTransfer() async {
        await #expect(processExitsWith: .success) {
            try await withLoopbackOrigin { (origin) async throws in
                origin.route("/a", LoopbackOrigin.Response(body: pattern(100)))
                let transport = CurlTransport(configuration: .init(proxy: .none))
                await RuntimeTimer.opening?.value
                let limit = OpenFileLimit.current
                OpenFileLimit.set(0)
                let record = try await transport.fetch(origin.url("/a"))
                #expect(record.error?.reason == .tooManyOpenFiles)
                OpenFileLimit.set(limit)
                #expect(try await transport.fetch(origin.url("/a")).body == pattern(100))
            }
        }
    }

    @Test func aLookupWithoutADescriptorNamesTheCause() async {
        await #expect(processExitsWith: .success) {
            let transport = CurlTransport(configuration: .init(proxy: .none))
            await RuntimeTimer.opening?.value
            let limit = OpenFileLimit.current
            OpenFileLimit.set(0)
            let record = try await transport.fetch("http://nonexistent.invalid/")
            #expect(record.error?.reason == .tooManyOpenFiles)
            OpenFileLimit.set(limit)
            // The failure was not cached.
            #expect(try await transport.fetch("http://nonexistent.invalid/").error?.reason == .hostNotFound)
        }
    }

    @Test func idleConnectionIsClosedIfDescriptorsRunOut() async {
        await #expect(processExitsWith: .success) {
            try await withLoopbackOrigin { (first) async throws in
                try await withLoopbackOrigin { (second) async throws in
                    first.route("/a", LoopbackOrigin.Response(body: pattern(100)))
                    second.route("/b", LoopbackOrigin.Response(body: pattern(200)))
                    let transport = CurlTransport(configuration: .init(proxy: .none))
                    #expect(try await transport.fetch(first.url("/a")).body == pattern(100))
                    await RuntimeTimer.opening?.value
                    let limit = OpenFileLimit.current
                    // Descriptors closed below this limit can be opened again, but no others.
                    let open = (0..<Int32(limit)).last { fcntl($0, F_GETFD) >= 0 } ?? 0
                    OpenFileLimit.set(Int(open) + 1)
                    while OpenFileLimit.free() > 0 { _ = dup(0) }
                    #expect(try await transport.fetch(second.url("/b")).body == pattern(200))
                    OpenFileLimit.set(limit)
                    #expect(try await transport.fetch(first.url("/a")).body == pattern(100))
                }
            }
        }
    }

    @Test func newConnectionsAtTheLimitReplaceIdleOnes() async {
        await #expect(processExitsWith: .success) {
            let transport = CurlTransport(configuration: .init(maximumConnections: 2, proxy: .none))
            for _ in 0..<6 {
                try await withLoopbackOrigin { (origin) async throws in
                    origin.route("/a", LoopbackOrigin.Response(body: pattern(100)))
                    #expect(try await transport.fetch(origin.url("/a")).body == pattern(100))
                    #expect(try await transport.connectionCount <= 2)
                }
            }
        }
    }
}

extension CurlTransport {
    /// The number of connections of the first thread.
    fileprivate var connectionCount: Int { get async throws { try await firstWorker().connectionCount } }
}

extension CurlWorker {
    fileprivate var connectionCount: Int { thread.poller.connectionCount }
}
