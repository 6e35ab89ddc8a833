import Testing
import Threading

@testable import HTTPTransport

@Suite(.timeLimit(.minutes(1)))
struct AddressBookTests {
    private func resolve(_ host: String, for waiter: UInt64, by book: AddressBook) async -> AddressBook.Answer {
        await withCheckedContinuation { continuation in
            book.resolve(host, for: waiter) { continuation.resume(returning: $0) }
        }
    }

    @Test func lookupsOfOneHostAreShared() async {
        let gatekeeper = Gatekeeper()
        let book = AddressBook(resolver: ThreadedResolver(gatekeeper.lookup))
        let answered = Locked(0)
        for waiter in 0..<100 { book.resolve("host", for: UInt64(waiter)) { _ in answered.withLock { $0 += 1 } } }
        gatekeeper.open()
        while answered.withLock({ $0 }) < 100, !Task.isCancelled { await Task.yield() }
        #expect(gatekeeper.counts.withLock { $0.lookups } == ["host"])
    }

    @Test func answersAreKeptAMinuteAndFailuresForAWhile() async throws {
        let gatekeeper = Gatekeeper()
        gatekeeper.open()
        let book = AddressBook(resolver: ThreadedResolver(gatekeeper.lookup), failureLifetime: .seconds(3_600))
        #expect(book.knownAnswer(for: "host") == nil)
        _ = await resolve("host", for: 1, by: book)
        let addresses = try #require(try book.knownAnswer(for: "host")?.get())
        #expect(addresses.list == ["127.0.0.1"])
        #expect(ContinuousClock.now.duration(to: addresses.expiry) <= .seconds(60))
        #expect(await resolve("bad", for: 2, by: book) == .failure(LookupFailure(message: "no")))
        #expect(book.knownAnswer(for: "bad") == .failure(LookupFailure(message: "no")))

        let forgetful = AddressBook(resolver: ThreadedResolver(gatekeeper.lookup), failureLifetime: .zero)
        _ = await resolve("bad", for: 3, by: forgetful)
        #expect(forgetful.knownAnswer(for: "bad") == nil)
    }

    @Test func whatPassesIsNotRemembered() async {
        struct Trouble: Error {}
        struct Troubled: HostResolver {
            func addresses(of host: String) async throws -> [IPAddress] { throw Trouble() }
        }
        let book = AddressBook(resolver: Troubled())
        guard case .failure(let failure) = await resolve("host", for: 1, by: book) else {
            Issue.record("found")
            return
        }
        #expect(failure.isTemporary)
        #expect(book.knownAnswer(for: "host") == nil)
    }

    @Test func whoComesAfterALookupWasAbandonedGetsAnAnswer() async {
        let gatekeeper = Gatekeeper()
        let book = AddressBook(resolver: ThreadedResolver(gatekeeper.lookup))
        for waiter in 0..<8 { book.resolve("stuck\(waiter)", for: UInt64(waiter)) { _ in } }
        await gatekeeper.lookups(reach: 8)
        for round in 0..<100 {
            let waiter = UInt64(100 + round)
            book.resolve("host", for: waiter) { _ in Issue.record("answered though withdrawn") }
            book.withdraw(waiter, from: "host")
        }
        gatekeeper.open()
        guard case .success(let addresses) = await resolve("host", for: 1_000, by: book) else {
            Issue.record("not found")
            return
        }
        #expect(addresses.list == ["127.0.0.1"])
    }
}
