import Threading

/// An answer that comes once, and those who wait for it.
///
/// Whoever resolves it first wins, so that every caller hears exactly one end, whatever happens at the same time.
final class OneShot<Value: Sendable>: Sendable {
    /// A task that waits.
    ///
    /// Each is taken out of the state under its lock and then resumed, so exactly once: there is nothing that a checked
    /// continuation would find.
    @safe
    private struct Waiter {
        private let continuation: UnsafeContinuation<Value, any Error>

        init(_ continuation: UnsafeContinuation<Value, any Error>) {
            unsafe self.continuation = continuation
        }

        func resume(with result: Result<Value, any Error>) { unsafe continuation.resume(with: result) }
    }

    private enum State {
        /// Mostly one waits: there is room for one without an array.
        case open(first: Waiter?, others: [Waiter])
        case resolved(Result<Value, any Error>)
    }

    private let state = Locked(State.open(first: nil, others: []))

    /// Sets the answer, unless there is one.
    func resolve(_ result: Result<Value, any Error>) {
        let (first, others) = state.withLock { state -> (Waiter?, [Waiter]) in
            guard case .open(let first, let others) = state else { return (nil, []) }
            state = .resolved(result)
            return (first, others)
        }
        first?.resume(with: result)
        for waiter in others { waiter.resume(with: result) }
    }

    /// A Boolean value that indicates whether there is an answer.
    var isResolved: Bool {
        state.withLock { state in
            if case .resolved = state { true } else { false }
        }
    }

    /// The answer, once it is there.
    ///
    /// Does not end early when the waiting task is canceled: resolve it then.
    var value: Value {
        get async throws {
            try await unsafe withUnsafeThrowingContinuation { continuation in
                let waiter = unsafe Waiter(continuation)
                let known = state.withLock { state -> Result<Value, any Error>? in
                    switch state {
                    case .resolved(let result): return result
                    case .open(nil, let others): state = .open(first: waiter, others: others)
                    case .open(let first, let others): state = .open(first: first, others: others + [waiter])
                    }
                    return nil
                }
                if let known { waiter.resume(with: known) }
            }
        }
    }
}
