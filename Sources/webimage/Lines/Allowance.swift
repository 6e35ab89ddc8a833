import Threading

/// An amount of something that lines share, such as memory: a line waits until its part is available.
///
/// Waiting lines are served in order. If the answers of lines are delivered in the order of the list, those of later
/// lines can use everything while an earlier line needs a part. The next line to deliver therefore gets its part beyond
/// the limit if no part is being delivered, and would be released as a result.
final class Allowance: Sendable {
    private struct Wait: Sendable {
        let count: Int
        let line: Int?
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        let limit: Int
        var used = 0
        var waiting: [Wait] = []
        var isAbandoned = false
        /// The next line to deliver; `nil` if lines are delivered in any order.
        var next: Int?
        /// The amount that is being delivered in order.
        var delivered = 0

        func fits(_ count: Int) -> Bool { used == 0 || used + count <= limit }

        /// Returns whether a line gets its part even beyond the limit.
        func mustServe(_ line: Int?) -> Bool { line != nil && line == next && delivered == 0 }

        /// Removes and returns the waits that end now.
        mutating func grant() -> [Wait] {
            var granted: [Wait] = []
            if next != nil, let index = waiting.firstIndex(where: { mustServe($0.line) }) {
                granted.append(waiting.remove(at: index))
                used += granted[0].count
            }
            while let first = waiting.first, fits(first.count) {
                granted.append(waiting.removeFirst())
                used += first.count
            }
            return granted
        }
    }

    private let state: Locked<State>

    /// Creates an allowance of `limit` in total, for lines that are delivered in any order or in that of the list.
    init(limit: Int, isOrdered: Bool = false) {
        state = Locked(State(limit: limit, next: isOrdered ? 0 : nil))
    }

    /// A Boolean value that indicates whether nothing is available.
    var isExhausted: Bool { state.withLock { $0.used >= $0.limit || !$0.waiting.isEmpty } }

    /// Waits until `count` is available for a line, given by its number in the list if that matters; more than the limit
    /// is available when nothing else is in use.
    func reserve(_ count: Int, for line: Int? = nil) async {
        await withCheckedContinuation { continuation in
            let isReserved = state.withLock { state in
                guard !state.isAbandoned else { return true }
                if state.mustServe(line) || (state.waiting.isEmpty && state.fits(count)) {
                    state.used += count
                    return true
                }
                state.waiting.append(Wait(count: count, line: line, continuation: continuation))
                return false
            }
            if isReserved { continuation.resume() }
        }
    }

    /// Returns a part.
    func release(_ count: Int) {
        resume {
            $0.used = max(0, $0.used - count)
            return $0.grant()
        }
    }

    /// Notes that all lines before `next` are delivered, of which the last one has a part of `count`;
    /// ``finishDelivery(of:)`` follows.
    func deliver(_ count: Int, before next: Int) {
        resume {
            $0.next = next
            $0.delivered += count
            return $0.grant()
        }
    }

    /// Returns the part of a line that has been delivered in order.
    func finishDelivery(of count: Int) {
        resume {
            $0.used = max(0, $0.used - count)
            $0.delivered -= count
            return $0.grant()
        }
    }

    /// Serves all lines at once, because they only end.
    func abandon() {
        resume { state in
            state.isAbandoned = true
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func resume(_ change: (inout sending State) -> sending [Wait]) {
        for wait in state.withLock(change) { wait.continuation.resume() }
    }
}
