import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct ThreadedResolverTests {
    @Test func thousandsOfHostsTakeEightThreads() async {
        let gatekeeper = Gatekeeper()
        let resolver = ThreadedResolver(gatekeeper.lookup)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask { _ = try? await resolver.addresses(of: "host\(number)") }
            }
            await gatekeeper.lookups(reach: 8)
            gatekeeper.open()
        }
        #expect(gatekeeper.counts.withLock { $0.maximum } == 8)
        #expect(gatekeeper.counts.withLock { $0.lookups.count } == 2_000)
    }

    @Test func lookupsThatNobodyWantsAnyLongerDoNotBegin() async throws {
        let gatekeeper = Gatekeeper()
        let resolver = ThreadedResolver(gatekeeper.lookup)
        let stuck = (0..<8).map { number in Task { try await resolver.addresses(of: "stuck\(number)") } }
        await gatekeeper.lookups(reach: 8)
        let unwanted = (0..<100).map { number in Task { try await resolver.addresses(of: "host\(number)") } }
        for task in unwanted { task.cancel() }
        for task in unwanted {
            // At once, though every thread is busy.
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        gatekeeper.open()
        for task in stuck { #expect(try await task.value == ["127.0.0.1"]) }
        #expect(try await resolver.addresses(of: "last") == ["127.0.0.1"])
        #expect(gatekeeper.counts.withLock { $0.lookups.count } == 9)
    }

    @Test func aFailureIsThrown() async {
        let gatekeeper = Gatekeeper()
        gatekeeper.open()
        let resolver = ThreadedResolver(gatekeeper.lookup)
        await #expect(throws: LookupFailure(message: "no")) { try await resolver.addresses(of: "bad") }
    }

    @Test func theSystemKnowsThisMachine() throws {
        let addresses = try systemLookup("localhost")
        #expect(addresses.contains("127.0.0.1") || addresses.contains("::1"))
    }

    @Test func theSystemSaysWhyAHostIsUnknown() {
        let failure = #expect(throws: LookupFailure.self) { try systemLookup("nonexistent.invalid") }
        #expect(failure?.message.isEmpty == false)
    }

    @Test(arguments: [("127.0.0.1", true), ("[::1]", true), ("localhost", false), ("127.0.0.1.example", false)])
    func numericAddressesNeedNoLookup(host: String, expected: Bool) {
        #expect(isNumericAddress(host) == expected)
    }
}
