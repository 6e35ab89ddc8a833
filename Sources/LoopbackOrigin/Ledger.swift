internal import Threading

/// The record of the origin's activity: written by its event loop, read and awaited by tests.
final class Ledger: Sendable {
    private struct Waiter {
        let isSatisfied: @Sendable (LoopbackOrigin.Counts) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var counts = LoopbackOrigin.Counts()
        var recorded: [LoopbackOrigin.Request] = []
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var isClosed = false
    }

    /// The maximum number of recorded requests, so that a benchmark of millions does not fill the memory.
    static let maximumRecordedRequests = 20_000

    private let state = Locked(State())

    var counts: LoopbackOrigin.Counts { state.withLock { $0.counts } }

    var recordedRequests: [LoopbackOrigin.Request] { state.withLock { $0.recorded } }

    /// Assigns a number to a connection.
    func connectionOpened() -> Int {
        update { state in
            state.counts.openedConnections += 1
            state.counts.openConnections += 1
            return state.counts.openedConnections
        }
    }

    func connectionClosed() {
        update { $0.counts.openConnections -= 1 }
    }

    /// Records a request, which `make` creates from its number among the requests for `path`, counted from 1.
    func requestReceived(
        path: String, make: (_ ordinal: Int) -> LoopbackOrigin.Request
    ) -> LoopbackOrigin.Request {
        update { state in
            let ordinal = state.counts.requests[path, default: 0] + 1
            let request = make(ordinal)
            state.counts.requests[path] = ordinal
            state.counts.totalRequests += 1
            if state.recorded.count < Self.maximumRecordedRequests { state.recorded.append(request) }
            return request
        }
    }

    func answerStarted() {
        update { state in
            state.counts.runningRequests += 1
            state.counts.maximumRunningRequests = max(
                state.counts.maximumRunningRequests, state.counts.runningRequests)
        }
    }

    func answerEnded() {
        update { $0.counts.runningRequests -= 1 }
    }

    func bodySent(path: String, bytes: Int) {
        update { $0.counts.bodyBytesSent[path, default: 0] += bytes }
    }

    /// Returns when the counts satisfy `isSatisfied`, the task is canceled, or the ledger is closed.
    func wait(until isSatisfied: @escaping @Sendable (LoopbackOrigin.Counts) -> Bool) async {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    if state.isClosed || Task.isCancelled || isSatisfied(state.counts) { return false }
                    state.waiters[id] = Waiter(isSatisfied: isSatisfied, continuation: continuation)
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Releases all waiting callers.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    private func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, satisfied) = state.withLock { state in
            let result = change(&state)
            let satisfied = state.waiters.filter { $0.value.isSatisfied(state.counts) }
            for id in satisfied.keys { state.waiters[id] = nil }
            return (result, satisfied)
        }
        for waiter in satisfied.values { waiter.continuation.resume() }
        return result
    }
}
