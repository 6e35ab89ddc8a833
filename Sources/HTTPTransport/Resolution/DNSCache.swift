import Threading

/// A DNS cache with the active lookups of a transport.
///
/// Lookups of the same host are shared. Addresses are cached for a minute, and failures that are not temporary for five
/// seconds. A lookup without remaining waiters is canceled.
final class DNSCache: Sendable {
    /// The result of a lookup: addresses in order of preference, or a failure.
    typealias Answer = Result<[IPAddress], LookupFailure>

    private struct Entry {
        let answer: Answer
        let expiry: MonotonicInstant
    }

    /// An active lookup and its waiters.
    private struct Pending {
        var waiting: [UInt64: @Sendable (Answer) -> Void] = [:]
        var task: Task<Void, Never>?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var pending: [String: Pending] = [:]
    }

    /// The time for which addresses are cached.
    static let lifetime = Duration.seconds(60)
    /// The time for which a failure is cached.
    private static let failureLifetime = Duration.seconds(5)
    /// The maximum number of hosts.
    static let maximumEntries = 10_000
    /// The maximum number of addresses kept per host.
    static let maximumAddresses = 16

    private let state = Locked(State())
    private let resolver: any HostResolver
    private let now: @Sendable () -> MonotonicInstant

    init(resolver: any HostResolver, now: @escaping @Sendable () -> MonotonicInstant = { .now }) {
        self.resolver = resolver
        self.now = now
    }

    /// Returns the cached result for `host`; `nil` if a lookup is needed.
    func cachedResult(for host: String) -> Answer? {
        state.withLock { state in state.entries[host].flatMap { $0.expiry > now() ? $0.answer : nil } }
    }

    /// Looks up `host` and calls `completion` once, unless `waiter` is withdrawn first.
    func resolve(_ host: String, for waiter: UInt64, completion: @escaping @Sendable (Answer) -> Void) {
        state.withLock { state in
            state.pending[host]?.waiting[waiter] = completion
            guard state.pending[host] == nil else { return }
            state.pending[host] = Pending(waiting: [waiter: completion], task: Task { await self.lookup(host) })
        }
    }

    /// The number of waiters of all lookups.
    var waiterCount: Int { state.withLock { $0.pending.values.reduce(0) { $0 + $1.waiting.count } } }

    /// Removes `waiter` from the lookup of `host`.
    func withdraw(_ waiter: UInt64, from host: String) {
        let abandoned = state.withLock { state in
            state.pending[host]?.waiting[waiter] = nil
            guard let pending = state.pending[host], pending.waiting.isEmpty else { return nil as Task<Void, Never>? }
            return pending.task
        }
        abandoned?.cancel()
    }

    private func lookup(_ host: String) async {
        let answer: Answer
        do {
            let addresses = try await resolver.addresses(of: host)
            guard !addresses.isEmpty else { throw LookupFailure(message: "no addresses") }
            answer = .success(Array(addresses.prefix(Self.maximumAddresses)))
        } catch let failure as LookupFailure {
            answer = .failure(failure)
        } catch {
            answer = .failure(LookupFailure(message: "\(error)", isTemporary: true))
        }
        let isCancelled = Task.isCancelled
        let completions = state.withLock { state in
            guard let pending = state.pending[host] else { return [UInt64: @Sendable (Answer) -> Void]() }
            if isCancelled, case .failure = answer, !pending.waiting.isEmpty {
                // A new waiter arrived after the lookup was abandoned.
                state.pending[host]?.task = Task { await self.lookup(host) }
                return [:]
            }
            state.pending[host] = nil
            if let entry = entry(for: answer) {
                if state.entries.count >= Self.maximumEntries { state.entries.removeAll() }
                state.entries[host] = entry
            }
            return pending.waiting
        }
        for completion in completions.values { completion(answer) }
    }

    /// Returns the cache entry for an answer, if it is cached.
    private func entry(for answer: Answer) -> Entry? {
        switch answer {
        case .success: Entry(answer: answer, expiry: now() + Self.lifetime)
        case .failure(let failure):
            failure.isTemporary ? nil : Entry(answer: answer, expiry: now() + Self.failureLifetime)
        }
    }
}
