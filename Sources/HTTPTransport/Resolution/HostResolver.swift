import Threading

/// Finds the addresses of hosts on a bounded number of threads.
///
/// libcurl would start a thread for every lookup, and wait for a stuck one. Lookups of one host are shared, answers
/// are kept for a minute. Threads exist only while there is something to look up.
final class HostResolver: Sendable {
    /// What a lookup yields: numeric addresses in the system's order of preference, or why there are none.
    typealias Answer = Result<[String], LookupFailure>
    typealias Lookup = @Sendable (_ host: String) -> Answer

    private struct State {
        var answers: [String: (addresses: [String], expiry: ContinuousClock.Instant)] = [:]
        var waiting: [String: [@Sendable (Answer) -> Void]] = [:]
        var queue: [String] = []
        var threads = 0
    }

    private static let threadLimit = 8
    private static let answerLimit = 10_000
    private static let lifetime = Duration.seconds(60)

    private let state = Locked(State())
    private let lookup: Lookup

    init(lookup: @escaping Lookup = systemLookup) {
        self.lookup = lookup
    }

    /// The addresses of `host` if they are known.
    func knownAddresses(of host: String) -> [String]? {
        state.withLock { state in
            guard let answer = state.answers[host], answer.expiry > .now else { return nil }
            return answer.addresses
        }
    }

    /// Looks `host` up and calls `completion` once, on one of the resolver's threads.
    func resolve(_ host: String, completion: @escaping @Sendable (Answer) -> Void) {
        let startsThread = state.withLock { state in
            if state.waiting[host] != nil {
                state.waiting[host, default: []].append(completion)
                return false
            }
            state.waiting[host] = [completion]
            state.queue.append(host)
            guard state.threads < Self.threadLimit else { return false }
            state.threads += 1
            return true
        }
        if startsThread {
            startThread(named: "webimage-dns") { self.answerQueue() }
        }
    }

    /// One thread's life: lookups until none is left.
    private func answerQueue() {
        while let host = nextHost() {
            let answer = lookup(host)
            let completions = state.withLock { state in
                if case .success(let addresses) = answer {
                    if state.answers.count >= Self.answerLimit { state.answers.removeAll() }
                    state.answers[host] = (addresses, .now + Self.lifetime)
                }
                return state.waiting.removeValue(forKey: host) ?? []
            }
            for completion in completions { completion(answer) }
        }
    }

    private func nextHost() -> String? {
        state.withLock { state in
            guard !state.queue.isEmpty else {
                state.threads -= 1
                return nil
            }
            return state.queue.removeFirst()
        }
    }
}
