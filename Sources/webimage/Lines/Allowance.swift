import Threading

/// An amount of something that lines share, such as memory: a line waits until its part is available.
///
/// Waiting lines are served in order.
final class Allowance: Sendable {
    private struct State {
        var used = 0
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var isAbandoned = false
    }

    private let limit: Int
    private let state = Locked(State())

    /// Creates an allowance of `limit` in total.
    init(limit: Int) {
        self.limit = limit
    }

    /// A Boolean value that indicates whether nothing is available.
    var isExhausted: Bool { state.withLock { $0.used >= limit || !$0.waiting.isEmpty } }

    /// Waits until `count` is available; more than the limit is available when nothing else is in use.
    func reserve(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReserved = state.withLock { state in
                guard !state.isAbandoned else { return true }
                if state.waiting.isEmpty, state.used == 0 || state.used + count <= limit {
                    state.used += count
                    return true
                }
                state.waiting.append((count, continuation))
                return false
            }
            if isReserved { continuation.resume() }
        }
    }

    /// Returns a part.
    func release(_ count: Int) {
        let granted = state.withLock { state in
            var granted: [CheckedContinuation<Void, Never>] = []
            state.used = max(0, state.used - count)
            while let next = state.waiting.first, state.used == 0 || state.used + next.count <= limit {
                state.waiting.removeFirst()
                state.used += next.count
                granted.append(next.continuation)
            }
            return granted
        }
        for continuation in granted { continuation.resume() }
    }

    /// Serves all lines at once, because they only end.
    func abandon() {
        let waiting = state.withLock { state in
            state.isAbandoned = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.continuation.resume() }
    }
}
