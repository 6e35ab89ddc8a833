import Threading

/// An answer that comes once, and those who wait for it.
///
/// Whoever resolves it first wins, so that every caller hears exactly one end, whatever happens at the same time.
final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case open([CheckedContinuation<Void, Never>])
        case resolved(Result<Value, any Error>)
    }

    private let state = Locked(State.open([]))

    /// Sets the answer, unless there is one.
    func resolve(_ result: Result<Value, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard case .open(let waiting) = state else { return [] }
            state = .resolved(result)
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Whether there is an answer.
    var isResolved: Bool { result != nil }

    /// The answer, once it is there.
    ///
    /// Does not end early when the waiting task is cancelled: resolve it then.
    var value: Value {
        get async throws {
            if let result { return try result.get() }
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    guard case .open(let waiting) = state else { return false }
                    state = .open(waiting + [continuation])
                    return true
                }
                if !isOpen { continuation.resume() }
            }
            guard let result else { throw CancellationError() }
            return try result.get()
        }
    }

    private var result: Result<Value, any Error>? {
        state.withLock { state in
            guard case .resolved(let result) = state else { return nil }
            return result
        }
    }
}
