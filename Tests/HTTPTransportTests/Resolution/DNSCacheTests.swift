import TestSupport
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct DNSCacheTests {
    private func resolve(_ host: String, for waiter: UInt64, by cache: DNSCache) async -> DNSCache.Answer {
        await withCheckedContinuation { continuation in
            cache.resolve(host, for: waiter) { continuation.resume(returning: $0) }
        }
    }

    @Test func lookupsOfOneHostAreShared() async {
        let gatekeeper = Gatekeeper()
        let cache = DNSCache(resolver: ThreadedResolver(gatekeeper.lookup))
        let answered = Tally()
        for waiter in 0..<100 { cache.resolve("host", for: UInt64(waiter)) { _ in answered.add() } }
        gatekeeper.open()
        await answered.reaches(100)
        #expect(gatekeeper.counts.withLock { $0.lookups } == ["host"])
    }

    @Test func waitersOfAllLookupsAreCounted() async {
        let gatekeeper = Gatekeeper()
        let cache = DNSCache(resolver: ThreadedResolver(gatekeeper.lookup))
        let answered = Tally()
        for waiter in 0..<5 { cache.resolve(waiter < 2 ? "a" : "b", for: UInt64(waiter)) { _ in answered.add() } }
        #expect(cache.waiterCount == 5)
        cache.withdraw(0, from: "a")
        #expect(cache.waiterCount == 4)
        gatekeeper.open()
        await answered.reaches(4)
        #expect(cache.waiterCount == 0)
    }

    @Test func addressesAreCachedForAMinuteAndFailuresForFiveSeconds() async throws {
        let gatekeeper = Gatekeeper()
        gatekeeper.open()
        let now = Locked(MonotonicInstant.now)
        let start = now.withLock { $0 }
        let cache = DNSCache(resolver: ThreadedResolver(gatekeeper.lookup), now: { now.withLock { $0 } })
        #expect(cache.cachedResult(for: "host") == nil)
        _ = await resolve("host", for: 1, by: cache)
        let addresses = try #require(try cache.cachedResult(for: "host")?.get())
        #expect(addresses == ["127.0.0.1"])
        let failure = DNSCache.Answer.failure(LookupFailure(message: "no"))
        #expect(await resolve("bad", for: 2, by: cache) == failure)

        now.withLock { $0 = start + .milliseconds(4_999) }
        #expect(cache.cachedResult(for: "bad") == failure)
        now.withLock { $0 = start + .seconds(5) }
        #expect(cache.cachedResult(for: "bad") == nil)
        now.withLock { $0 = start + .milliseconds(59_999) }
        #expect(cache.cachedResult(for: "host") == .success(addresses))
        now.withLock { $0 = start + .seconds(60) }
        #expect(cache.cachedResult(for: "host") == nil)
    }

    @Test func atMostSixteenAddressesOfAHostAreKept() async throws {
        let resolver = ThreadedResolver { _ in Array(repeating: "127.0.0.1", count: 20) }
        let answer = await resolve("host", for: 1, by: DNSCache(resolver: resolver))
        #expect(try answer.get().count == 16)
    }

    @Test func temporaryLookupFailuresAreNotCached() async {
        struct Trouble: Error {}
        struct Troubled: HostResolver {
            func addresses(of host: String) async throws -> [IPAddress] { throw Trouble() }
        }
        let cache = DNSCache(resolver: Troubled())
        guard case .failure(let failure) = await resolve("host", for: 1, by: cache) else {
            Issue.record("found")
            return
        }
        #expect(failure.isTemporary)
        #expect(cache.cachedResult(for: "host") == nil)
    }

    @Test func nameIsResolvedAfterAbandonedLookup() async {
        let gatekeeper = Gatekeeper()
        let cache = DNSCache(resolver: ThreadedResolver(gatekeeper.lookup))
        for waiter in 0..<8 { cache.resolve("stuck\(waiter)", for: UInt64(waiter)) { _ in } }
        await gatekeeper.lookups(reach: 8)
        for round in 0..<100 {
            let waiter = UInt64(100 + round)
            cache.resolve("host", for: waiter) { _ in Issue.record("answered though withdrawn") }
            cache.withdraw(waiter, from: "host")
        }
        gatekeeper.open()
        guard case .success(let addresses) = await resolve("host", for: 1_000, by: cache) else {
            Issue.record("not found")
            return
        }
        #expect(addresses == ["127.0.0.1"])
    }
}
