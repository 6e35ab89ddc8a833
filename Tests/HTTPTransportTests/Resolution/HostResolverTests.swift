import Glibc
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct HostResolverTests {
    /// A lookup that waits until it is told to go on, and counts.
    private final class Gatekeeper: Sendable {
        struct Counts {
            var running = 0
            var maximum = 0
            var lookups: [String] = []
            var isOpen = false
        }
        let counts = Locked(Counts())

        func open() { counts.withLock { $0.isOpen = true } }

        func lookup(_ host: String) -> Result<[String], LookupFailure> {
            counts.withLock { counts in
                counts.running += 1
                counts.maximum = max(counts.maximum, counts.running)
                counts.lookups.append(host)
            }
            while !counts.withLock({ $0.isOpen }) { sched_yield() }
            counts.withLock { $0.running -= 1 }
            return host.hasPrefix("bad") ? .failure(LookupFailure(message: "no")) : .success(["127.0.0.1"])
        }
    }

    private func resolve(_ host: String, for waiter: UInt64, by resolver: HostResolver) async -> HostResolver.Answer {
        await withCheckedContinuation { continuation in
            resolver.resolve(host, for: waiter) { continuation.resume(returning: $0) }
        }
    }

    @Test func thousandsOfHostsTakeEightThreads() async {
        let gatekeeper = Gatekeeper()
        let resolver = HostResolver(lookup: gatekeeper.lookup)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask { _ = await resolve("host\(number)", for: UInt64(number), by: resolver) }
            }
            while gatekeeper.counts.withLock({ $0.running }) < 8, !Task.isCancelled { await Task.yield() }
            gatekeeper.open()
        }
        #expect(gatekeeper.counts.withLock { $0.maximum } == 8)
        #expect(gatekeeper.counts.withLock { $0.lookups.count } == 2_000)
    }

    @Test func lookupsOfOneHostAreShared() async {
        let gatekeeper = Gatekeeper()
        let resolver = HostResolver(lookup: gatekeeper.lookup)
        let answered = Locked(0)
        for waiter in 0..<100 { resolver.resolve("host", for: UInt64(waiter)) { _ in answered.withLock { $0 += 1 } } }
        gatekeeper.open()
        while answered.withLock({ $0 }) < 100, !Task.isCancelled { await Task.yield() }
        #expect(gatekeeper.counts.withLock { $0.lookups } == ["host"])
    }

    @Test func answersAreKeptAMinuteAndFailuresNot() async {
        let gatekeeper = Gatekeeper()
        gatekeeper.open()
        let resolver = HostResolver(lookup: gatekeeper.lookup)
        #expect(resolver.knownAddresses(of: "host") == nil)
        _ = await resolve("host", for: 1, by: resolver)
        #expect(resolver.knownAddresses(of: "host")?.list == ["127.0.0.1"])
        let left = resolver.knownAddresses(of: "host").map { ContinuousClock.now.duration(to: $0.expiry) }
        #expect(left.map { $0 <= .seconds(60) } == true)
        guard case .failure = await resolve("bad", for: 2, by: resolver) else {
            Issue.record("found")
            return
        }
        #expect(resolver.knownAddresses(of: "bad") == nil)
    }

    @Test func hostsNobodyWaitsForAreNotLookedUp() async {
        let gatekeeper = Gatekeeper()
        let resolver = HostResolver(lookup: gatekeeper.lookup)
        for waiter in 0..<8 { resolver.resolve("stuck\(waiter)", for: UInt64(waiter)) { _ in } }
        for waiter in 8..<100 {
            resolver.resolve("host\(waiter)", for: UInt64(waiter)) { _ in Issue.record("answered") }
            resolver.withdraw(UInt64(waiter), from: "host\(waiter)")
        }
        gatekeeper.open()
        _ = await resolve("last", for: 100, by: resolver)
        #expect(gatekeeper.counts.withLock { $0.lookups.count } == 9)
    }

    @Test(arguments: [("127.0.0.1", true), ("[::1]", true), ("localhost", false), ("127.0.0.1.example", false)])
    func numericAddressesNeedNoLookup(host: String, expected: Bool) {
        #expect(isNumericAddress(host) == expected)
    }

    @Test func theSystemKnowsThisMachine() throws {
        let addresses = try systemLookup("localhost").get()
        #expect(addresses.contains("127.0.0.1") || addresses.contains("::1"))
    }

    @Test func theSystemSaysWhyAHostIsUnknown() {
        guard case .failure(let failure) = systemLookup("nonexistent.invalid") else {
            Issue.record("found")
            return
        }
        #expect(!failure.message.isEmpty)
    }
}
