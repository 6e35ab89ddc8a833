import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct LookupGrowthTests {
    @Test func successfulLookupsAddThreadsWhileOthersWait() async {
        let gatekeeper = Gatekeeper()
        let resolver = ThreadedResolver(
            { host throws(LookupFailure) in
                // Lookups that take no time lead to more threads, all of which the others then occupy.
                host.hasPrefix("quick") ? ["127.0.0.1"] : try gatekeeper.lookup(host)
            }, waitForProgress: {})
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    _ = try? await resolver.addresses(of: number < 100 ? "quick\(number)" : "host\(number)")
                }
            }
            await gatekeeper.lookups(reach: 16)
            gatekeeper.open()
        }
        #expect((16...64).contains(gatekeeper.counts.withLock { $0.maximum }))
        #expect(gatekeeper.counts.withLock { $0.lookups.count } == 200)
    }

    @Test func temporaryFailuresDoNotLoseLookups() async {
        let lookups = Locked(0)
        let resolver = ThreadedResolver { host throws(LookupFailure) in
            lookups.withLock { $0 += 1 }
            guard host.hasSuffix("7") else { return ["127.0.0.1"] }
            throw LookupFailure(message: "later", isTemporary: true)
        }
        let successes = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    if (try? await resolver.addresses(of: "host\(number)")) != nil { successes.withLock { $0 += 1 } }
                }
            }
        }
        #expect(lookups.withLock { $0 } == 1_000)
        #expect(successes.withLock { $0 } == 900)
    }
}
