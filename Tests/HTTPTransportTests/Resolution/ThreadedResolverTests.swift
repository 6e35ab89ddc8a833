import Glibc
import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct ThreadedResolverTests {
    /// The time after which threads count as stuck, controlled by the test.
    private final class Patience: Sendable {
        private let endings: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation

        init() {
            (endings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        }

        deinit { continuation.finish() }

        @Sendable func last() async {
            for await _ in endings { return }
        }

        /// Lets the time end repeatedly until `condition` holds.
        func ends(until condition: () -> Bool) async {
            while !condition(), !Task.isCancelled {
                continuation.yield()
                await Task.yield()
            }
        }

        /// Lets the time end for all lookups.
        func endsForGood() { continuation.finish() }
    }

    @Test func thousandsOfHostsTakeFewThreads() async {
        let gatekeeper = Gatekeeper()
        let patience = Patience()
        let resolver = ThreadedResolver(gatekeeper.lookup, waitForProgress: patience.last)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2_000 {
                group.addTask { _ = try? await resolver.addresses(of: "host\(number)") }
            }
            await gatekeeper.lookups(reach: 8)
            gatekeeper.open()
        }
        #expect((8...64).contains(gatekeeper.counts.withLock { $0.maximum }))
        #expect(gatekeeper.counts.withLock { $0.lookups.count } == 2_000)
        patience.endsForGood()
    }

    @Test func stuckLookupsDoNotDelayOthers() async throws {
        let gatekeeper = Gatekeeper()
        let patience = Patience()
        let resolver = ThreadedResolver(
            { host throws(LookupFailure) in
                host.hasPrefix("stuck") ? try gatekeeper.lookup(host) : ["127.0.0.2"]
            }, waitForProgress: patience.last)
        let stuck = (0..<9).map { number in Task { try await resolver.addresses(of: "stuck\(number)") } }
        await gatekeeper.lookups(reach: 8)
        let answered = Locked(false)
        let other = Task {
            defer { answered.withLock { $0 = true } }
            return try await resolver.addresses(of: "other")
        }
        await patience.ends(until: { answered.withLock { $0 } })
        #expect(try await other.value == ["127.0.0.2"])
        #expect(gatekeeper.counts.withLock { $0.lookups.count } <= 9)
        gatekeeper.open()
        for task in stuck { #expect(try await task.value == ["127.0.0.1"]) }
        patience.endsForGood()
    }

    @Test func stuckLookupsUseAtMost64Threads() async throws {
        let gatekeeper = Gatekeeper()
        let patience = Patience()
        let resolver = ThreadedResolver(gatekeeper.lookup, waitForProgress: patience.last)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { _ = try? await resolver.addresses(of: "host\(number)") } }
            await gatekeeper.lookups(reach: 8)
            await patience.ends(until: { gatekeeper.counts.withLock { $0.lookups.count } >= 64 })
            var further = 0
            await patience.ends(until: {
                further += 1
                return further > 1_000
            })
            gatekeeper.open()
        }
        #expect(gatekeeper.counts.withLock { $0.maximum } == 64)
        #expect(gatekeeper.counts.withLock { $0.lookups.count } == 200)
        patience.endsForGood()
    }

    @Test func abandonedLookupsDoNotStart() async throws {
        let gatekeeper = Gatekeeper()
        let patience = Patience()
        let resolver = ThreadedResolver(gatekeeper.lookup, waitForProgress: patience.last)
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
        patience.endsForGood()
    }

    @Test func lookupsShareExistingThreadsWhenNoneCanBeStarted() async throws {
        let gatekeeper = Gatekeeper()
        let patience = Patience()
        let started = Locked(0)
        let resolver = ThreadedResolver(
            gatekeeper.lookup,
            start: { body throws(ThreadFailure) in
                let number = started.withLock { started in
                    started += 1
                    return started
                }
                guard number <= 2 else { throw ThreadFailure(code: EAGAIN) }
                try startThread(named: "webimage-test", body)
            }, waitForProgress: patience.last)
        let lookups = (0..<40).map { number in Task { try await resolver.addresses(of: "host\(number)") } }
        await gatekeeper.lookups(reach: 2)
        gatekeeper.open()
        for lookup in lookups { #expect(try await lookup.value == ["127.0.0.1"]) }
        #expect(gatekeeper.counts.withLock { $0.maximum } <= 2)
        patience.endsForGood()
    }

    @Test func lookupsFailIfNoThreadCanBeStarted() async {
        let resolver = ThreadedResolver(
            { _ throws(LookupFailure) in ["127.0.0.1"] },
            start: { _ throws(ThreadFailure) in throw ThreadFailure(code: EAGAIN) }, waitForProgress: {})
        for _ in 0..<2 {
            let failure = await #expect(throws: LookupFailure.self) { try await resolver.addresses(of: "host") }
            #expect(failure?.message == "cannot start a thread: Resource temporarily unavailable")
            #expect(failure?.isTemporary == true)
        }
    }

    @Test func lookupFailureIsThrown() async {
        let gatekeeper = Gatekeeper()
        gatekeeper.open()
        let resolver = ThreadedResolver(gatekeeper.lookup)
        await #expect(throws: LookupFailure(message: "no")) { try await resolver.addresses(of: "bad") }
    }

    @Test func systemLookupResolvesLocalhost() throws {
        let addresses = try systemLookup("localhost")
        #expect(addresses.contains("127.0.0.1") || addresses.contains("::1"))
    }

    @Test func systemLookupReportsUnknownHosts() {
        let failure = #expect(throws: LookupFailure.self) { try systemLookup("nonexistent.invalid") }
        #expect(failure?.message.isEmpty == false)
    }

    @Test(arguments: [("127.0.0.1", true), ("[::1]", true), ("localhost", false), ("127.0.0.1.example", false)])
    func numericAddressesNeedNoLookup(host: String, expected: Bool) {
        #expect(isNumericAddress(host) == expected)
    }
}
