import Threading

/// What a transport knows of hosts' addresses, and the lookups under way.
///
/// Lookups of one host are shared, answers are kept for a minute, and that there is none for five seconds. A lookup that
/// nobody waits for any longer is canceled.
final class AddressBook: Sendable {
    /// What a lookup yields: addresses in their order of preference, or why there are none.
    typealias Answer = Result<Addresses, LookupFailure>

    /// Where a host is, for the time being.
    struct Addresses: Sendable, Hashable {
        let list: [IPAddress]
        let expiry: ContinuousClock.Instant
    }

    private struct Entry {
        let answer: Answer
        let expiry: ContinuousClock.Instant
    }

    /// A lookup under way, and who waits for it.
    private struct Pending {
        var waiting: [UInt64: @Sendable (Answer) -> Void] = [:]
        var task: Task<Void, Never>?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var pending: [String: Pending] = [:]
    }

    /// How long addresses are good for.
    static let lifetime = Duration.seconds(60)
    /// How long it is taken for granted that a host has none.
    private static let failureLifetime = Duration.seconds(5)
    private static let entryLimit = 10_000
    /// So many addresses of a host are kept; who has more has enough of them.
    private static let addressLimit = 16

    private let state = Locked(State())
    private let resolver: any HostResolver
    private let now: @Sendable () -> ContinuousClock.Instant

    init(resolver: any HostResolver, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.resolver = resolver
        self.now = now
    }

    /// What is known of `host`; nil if it has to be looked up.
    func knownAnswer(for host: String) -> Answer? {
        state.withLock { state in state.entries[host].flatMap { $0.expiry > now() ? $0.answer : nil } }
    }

    /// Looks `host` up and calls `completion` once, unless `waiter` is withdrawn before.
    func resolve(_ host: String, for waiter: UInt64, completion: @escaping @Sendable (Answer) -> Void) {
        state.withLock { state in
            state.pending[host]?.waiting[waiter] = completion
            guard state.pending[host] == nil else { return }
            state.pending[host] = Pending(waiting: [waiter: completion], task: Task { await self.lookUp(host) })
        }
    }

    /// Forgets that `waiter` wanted `host`.
    func withdraw(_ waiter: UInt64, from host: String) {
        let abandoned = state.withLock { state in
            state.pending[host]?.waiting[waiter] = nil
            guard let pending = state.pending[host], pending.waiting.isEmpty else { return nil as Task<Void, Never>? }
            return pending.task
        }
        abandoned?.cancel()
    }

    private func lookUp(_ host: String) async {
        let answer: Answer
        do {
            let addresses = try await resolver.addresses(of: host)
            guard !addresses.isEmpty else { throw LookupFailure(message: "no addresses") }
            answer = .success(
                Addresses(list: Array(addresses.prefix(Self.addressLimit)), expiry: now() + Self.lifetime))
        } catch let failure as LookupFailure {
            answer = .failure(failure)
        } catch {
            answer = .failure(LookupFailure(message: "\(error)", isTemporary: true))
        }
        let isCancelled = Task.isCancelled
        let completions = state.withLock { state in
            guard let pending = state.pending[host] else { return [UInt64: @Sendable (Answer) -> Void]() }
            if isCancelled, case .failure = answer, !pending.waiting.isEmpty {
                // Somebody has come since the lookup was abandoned.
                state.pending[host]?.task = Task { await self.lookUp(host) }
                return [:]
            }
            state.pending[host] = nil
            if let entry = entry(for: answer) {
                if state.entries.count >= Self.entryLimit { state.entries.removeAll() }
                state.entries[host] = entry
            }
            return pending.waiting
        }
        for completion in completions.values { completion(answer) }
    }

    /// What is remembered of an answer, if anything.
    private func entry(for answer: Answer) -> Entry? {
        switch answer {
        case .success(let addresses): Entry(answer: answer, expiry: addresses.expiry)
        case .failure(let failure):
            failure.isTemporary ? nil : Entry(answer: answer, expiry: now() + Self.failureLifetime)
        }
    }
}
