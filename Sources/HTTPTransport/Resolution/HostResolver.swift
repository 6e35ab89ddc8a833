import Threading

/// Finds the addresses of hosts on a bounded number of threads.
///
/// libcurl would start a thread for every lookup, and wait for a stuck one. Lookups of one host are shared, answers
/// are kept for a minute, and hosts that nobody waits for any longer are passed over. Threads exist only while there
/// is something to look up.
final class HostResolver: Sendable {
    /// What a lookup yields: numeric addresses in the system's order of preference, or why there are none.
    typealias Answer = Result<Addresses, LookupFailure>
    typealias Lookup = @Sendable (_ host: String) -> Result<[String], LookupFailure>

    /// Where a host is, for the time being.
    struct Addresses: Sendable, Hashable {
        let list: [String]
        let expiry: ContinuousClock.Instant
    }

    /// A lookup that is queued or under way, and who waits for it.
    private struct Pending {
        var waiting: [UInt64: @Sendable (Answer) -> Void] = [:]
    }

    private struct State {
        var answers: [String: Addresses] = [:]
        var pending: [String: Pending] = [:]
        var queue: [String] = []
        var threads = 0
    }

    /// How long an answer is good for.
    static let lifetime = Duration.seconds(60)
    private static let threadLimit = 8
    private static let answerLimit = 10_000

    private let state = Locked(State())
    private let lookup: Lookup

    init(lookup: @escaping Lookup = systemLookup) {
        self.lookup = lookup
    }

    /// The addresses of `host` if they are known.
    func knownAddresses(of host: String) -> Addresses? {
        state.withLock { state in state.answers[host].flatMap { $0.expiry > .now ? $0 : nil } }
    }

    /// Looks `host` up and calls `completion` once, on one of the resolver's threads, unless `waiter` is withdrawn.
    func resolve(_ host: String, for waiter: UInt64, completion: @escaping @Sendable (Answer) -> Void) {
        let startsThread = state.withLock { state in
            state.pending[host]?.waiting[waiter] = completion
            if state.pending[host] != nil { return false }
            state.pending[host] = Pending(waiting: [waiter: completion])
            state.queue.append(host)
            guard state.threads < Self.threadLimit else { return false }
            state.threads += 1
            return true
        }
        if startsThread {
            startThread(named: "webimage-dns") { self.answerQueue() }
        }
    }

    /// Forgets that `waiter` wanted `host`; a lookup under way goes on, one that is queued may not begin.
    func withdraw(_ waiter: UInt64, from host: String) {
        state.withLock { $0.pending[host]?.waiting[waiter] = nil }
    }

    /// One thread's life: lookups until none is left.
    private func answerQueue() {
        while let host = nextHost() {
            let answer = lookup(host).map { Addresses(list: $0, expiry: .now + Self.lifetime) }
            let completions = state.withLock { state in
                if case .success(let addresses) = answer {
                    if state.answers.count >= Self.answerLimit { state.answers.removeAll() }
                    state.answers[host] = addresses
                }
                return state.pending.removeValue(forKey: host)?.waiting ?? [:]
            }
            for completion in completions.values { completion(answer) }
        }
    }

    private func nextHost() -> String? {
        state.withLock { state in
            while !state.queue.isEmpty {
                let host = state.queue.removeFirst()
                if state.pending[host]?.waiting.isEmpty == false { return host }
                state.pending[host] = nil
            }
            state.threads -= 1
            return nil
        }
    }
}
