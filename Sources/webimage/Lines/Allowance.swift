import Threading

/// An amount of something that lines share, such as memory: a line waits until its part is available.
///
/// Waiting lines are served in order. If the answers of lines are delivered in the order of the list, those of later
/// lines can use everything while an earlier line needs a part. The next line to deliver therefore gets its part beyond
/// the limit if no part is being delivered, and would be released as a result.
final class Allowance<Owner: Hashable & Sendable>: Sendable {
    private struct Wait: Sendable {
        /// The amount to reserve; 0 to wait until one unit is available without reserving it.
        let count: Int
        let owner: Owner?
        /// The value of ``State/round`` at the beginning of a brief wait; `nil` for a wait of any length.
        let round: Int?
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        let limit: Int
        var used = 0
        var waiting: [Wait] = []
        var isAbandoned = false
        /// The owner of the part of the next line to deliver; `nil` if lines are delivered in any order, or it is
        /// unknown.
        var next: Owner?
        /// The number of times that brief waits have been ended.
        var round = 0
        /// The amount that is being delivered in order.
        var delivered = 0

        func fits(_ count: Int) -> Bool { used == 0 || used + max(count, 1) <= limit }

        /// Returns whether an owner gets its part even beyond the limit.
        func mustServe(_ owner: Owner?) -> Bool { owner != nil && owner == next && delivered == 0 }

        /// Reserves a part if it is available; returns whether it did.
        mutating func reserve(_ count: Int, for owner: Owner?) -> Bool {
            if isAbandoned { return true }
            guard mustServe(owner) || (waiting.isEmpty && fits(count)) else { return false }
            used += count
            return true
        }

        /// Removes and returns the waits that end now.
        mutating func grant() -> [Wait] {
            var granted: [Wait] = []
            if next != nil, let index = waiting.firstIndex(where: { mustServe($0.owner) }) {
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

    /// Creates an allowance of `limit` in total; if lines are delivered in order, `next` owns the part of the first.
    init(limit: Int, next: Owner? = nil) {
        state = Locked(State(limit: limit, next: next))
    }

    /// A Boolean value that indicates whether nothing is available.
    var isExhausted: Bool { state.withLock { $0.used >= $0.limit || !$0.waiting.isEmpty } }

    /// Waits until `count` is available for an owner, which matters if lines are delivered in order; more than the
    /// limit is available when nothing else is in use.
    func reserve(_ count: Int, for owner: Owner? = nil) async {
        _ = await wait(for: count, owner, isBrief: false)
    }

    /// Reserves `count` like ``reserve(_:for:)`` if it is available without a wait; returns whether it is.
    func reserveAtOnce(_ count: Int, for owner: Owner? = nil) -> Bool {
        state.withLock { $0.reserve(count, for: owner) }
    }

    /// Reserves `count` like ``reserve(_:for:)``, unless ``endWaits(of:)`` ends the wait; returns whether it did.
    ///
    /// `whenWaiting` is called once the wait can be ended.
    func reserveUntilEnded(_ count: Int, for owner: Owner, whenWaiting: () -> Void) async -> Bool {
        await wait(for: count, owner, isBrief: false, whenWaiting: whenWaiting)
    }

    /// Reserves `count` like ``reserve(_:for:)``, unless ``endBriefWaits()`` or ``endWaits(of:)`` ends the wait;
    /// returns whether it did.
    func reserveBriefly(_ count: Int, for owner: Owner? = nil, whenWaiting: () -> Void = {}) async -> Bool {
        await wait(for: count, owner, isBrief: true, whenWaiting: whenWaiting)
    }

    /// Waits until one unit is available for an owner, without reserving it, unless ``endWaits(of:)`` ends the wait.
    func awaitUnit(for owner: Owner, whenWaiting: () -> Void) async {
        _ = await wait(for: 0, owner, isBrief: false, whenWaiting: whenWaiting)
    }

    /// Ends the waits of an owner without reserving anything.
    func endWaits(of owner: Owner) {
        let ended = state.withLock { state in
            let ended = state.waiting.filter { $0.owner == owner }
            if !ended.isEmpty { state.waiting.removeAll { $0.owner == owner } }
            return ended
        }
        for wait in ended { wait.continuation.resume(returning: false) }
    }

    /// Ends the brief waits that began before the last call.
    func endBriefWaits() {
        let ended = state.withLock { state in
            let round = state.round
            state.round += 1
            let ended = state.waiting.filter { $0.round.map { $0 < round } ?? false }
            if !ended.isEmpty { state.waiting.removeAll { $0.round.map { $0 < round } ?? false } }
            return ended
        }
        for wait in ended { wait.continuation.resume(returning: false) }
    }

    private func wait(
        for count: Int, _ owner: Owner?, isBrief: Bool, whenWaiting: () -> Void = {}
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let isReserved = state.withLock { state in
                if state.reserve(count, for: owner) { return true }
                let round = isBrief ? state.round : nil
                state.waiting.append(Wait(count: count, owner: owner, round: round, continuation: continuation))
                return false
            }
            if isReserved { continuation.resume(returning: true) } else { whenWaiting() }
        }
    }

    /// Returns a part.
    func release(_ count: Int) {
        resume {
            $0.used = max(0, $0.used - count)
            return $0.grant()
        }
    }

    /// Sets the owner of the part of the next line to deliver.
    func setNext(_ next: Owner?) {
        resume {
            $0.next = next
            return $0.grant()
        }
    }

    /// Notes that all lines before that of `next` are delivered, of which the last one has a part of `count`;
    /// ``finishDelivery(of:)`` follows.
    func deliver(_ count: Int, before next: Owner) {
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
        for wait in state.withLock(change) { wait.continuation.resume(returning: true) }
    }
}
