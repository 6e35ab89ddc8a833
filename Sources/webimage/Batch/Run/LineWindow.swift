import Threading

/// The lines that are open at a time: read, and not written yet.
///
/// A line that waits for a retry, a rate, a lookup, or a slot is open as well, but takes no place of a transfer.
final class LineWindow: Sendable {
    private struct State {
        var open = 0
        var isClosed = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let limit: Int
    private let state = Locked(State())

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of open lines.
    var open: Int { state.withLock { $0.open } }

    /// Waits until another line may be opened; returns `false` once the window is closed.
    ///
    /// For a single reader.
    func enter() async -> Bool {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if state.isClosed || state.open < limit { return true }
                state.waiter = continuation
                return false
            }
            if isFree { continuation.resume() }
        }
        return state.withLock { state in
            if !state.isClosed { state.open += 1 }
            return !state.isClosed
        }
    }

    /// Removes a line.
    func leave() {
        state.withLock { state in
            state.open -= 1
            defer { state.waiter = nil }
            return state.waiter
        }?.resume()
    }

    /// Lets no further line in.
    func close() {
        state.withLock { state in
            state.isClosed = true
            defer { state.waiter = nil }
            return state.waiter
        }?.resume()
    }
}
