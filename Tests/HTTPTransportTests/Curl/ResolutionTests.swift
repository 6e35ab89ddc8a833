import LoopbackOrigin
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct ResolutionTests {
    @Test func thousandsOfHostsAreReached() async throws {
        let lookups = Locked(0)
        let resolver = ThreadedResolver { host in
            lookups.withLock { $0 += 1 }
            return ["127.0.0.1"]
        }
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let transport = CurlTransport(configuration: .init(proxy: .none, resolver: resolver))
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<2_000 {
                    if number >= 100 { #expect(try await group.next() == true) }
                    group.addTask {
                        try await transport.fetch("http://h\(number).example:\(origin.port)/a").isComplete
                    }
                }
                for try await isComplete in group { #expect(isComplete) }
            }
            #expect(lookups.withLock { $0 } == 2_000)
            // All are known now, to libcurl as well.
            for number in 0..<200 {
                #expect(try await transport.fetch("http://h\(number).example:\(origin.port)/a").isComplete)
            }
            #expect(lookups.withLock { $0 } == 2_000)
        }
    }

    @Test func failedLookupOfUnknownHostIsCached() async throws {
        let lookups = Locked(0)
        let resolver = ThreadedResolver { host throws(LookupFailure) in
            lookups.withLock { $0 += 1 }
            throw LookupFailure(message: "no such host", isTemporary: host.hasPrefix("later"))
        }
        let now = MonotonicInstant.now
        let transport = CurlTransport(
            configuration: .init(proxy: .none), dnsCache: DNSCache(resolver: resolver, now: { now }))
        for _ in 0..<3 {
            let error = try await transport.fetch("http://never.example/").error
            #expect(error?.reason == .hostNotFound)
            #expect(error?.description == "the host is unknown (never.example: no such host)")
        }
        #expect(lookups.withLock { $0 } == 1)
        lookups.withLock { $0 = 0 }
        for _ in 0..<3 { #expect(try await transport.fetch("http://later.example/").error?.reason == .lookupFailed) }
        #expect(lookups.withLock { $0 } == 3)
    }

    @Test func transfersThatWaitForAddressesAreCounted() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            let gatekeeper = Gatekeeper()
            let transport = CurlTransport(
                configuration: .init(proxy: .none, resolver: ThreadedResolver(gatekeeper.lookup)))
            #expect(transport.lookupCount == 0)
            async let fetched = transport.fetch("http://host.example:\(origin.port)/a")
            await gatekeeper.lookups(reach: 1)
            #expect(transport.lookupCount == 1)
            gatekeeper.open()
            #expect(try await fetched.isComplete)
            #expect(transport.lookupCount == 0)
        }
    }

    @Test func unreachableAddressIsSkipped() async throws {
        try await withLoopbackOrigin { (origin) async throws in
            origin.route("/a", LoopbackOrigin.Response(body: [1]))
            // No server listens on the first two.
            let resolver = ThreadedResolver { _ in ["::1", "127.0.0.2", "127.0.0.1"] }
            let transport = CurlTransport(configuration: .init(proxy: .none, resolver: resolver))
            #expect(try await transport.fetch("http://host.example:\(origin.port)/a").body == [1])
        }
    }
}
