import Threading

/// A result that is set once, and the tasks that wait for it.
///
/// Only the first call of ``resolve(_:)`` has an effect, so that every caller gets exactly one result in case of
/// races.
final class OneShot<Value: Sendable>: Sendable {
    /// The continuation of a waiting task.
    ///
    /// Each is removed from the state under its lock and then resumed exactly once, so a checked continuation would add
    /// no safety.
    @safe
    private struct Waiter {
        private let continuation: UnsafeContinuation<Void, Never>

        init(_ continuation: UnsafeContinuation<Void, Never>) {
            unsafe self.continuation = continuation
        }

        func resume() { unsafe continuation.resume() }
    }

    private enum State {
        /// There is usually one waiting task, which needs no array.
        case open(first: Waiter?, others: [Waiter])
        case resolved(Result<Value, any Error>)
    }

    private let state = Locked(State.open(first: nil, others: []))

    /// Sets the result, unless it is already set.
    func resolve(_ result: Result<Value, any Error>) {
        let (first, others) = state.withLock { state -> (Waiter?, [Waiter]) in
            guard case .open(let first, let others) = state else { return (nil, []) }
            state = .resolved(result)
            return (first, others)
        }
        first?.resume()
        for waiter in others { waiter.resume() }
    }

    /// A Boolean value that indicates whether the result is set.
    var isResolved: Bool {
        state.withLock { state in
            if case .resolved = state { true } else { false }
        }
    }

    /// The value, if the result is set and is a success.
    var success: Value? { try? result?.get() }

    /// The result, once it is set.
    ///
    /// Canceling the waiting task has no effect: set a result in this case.
    var value: Value {
        get async throws {
            while true {
                // Not passed by the continuation: the thread sanitizer does not see that it orders accesses to its
                // value if it is resumed before the task waits for it.
                if let result { return try result.get() }
                await unsafe withUnsafeContinuation { continuation in
                    let waiter = unsafe Waiter(continuation)
                    let isResolved = state.withLock { state in
                        switch state {
                        case .resolved: return true
                        case .open(nil, let others): state = .open(first: waiter, others: others)
                        case .open(let first, let others): state = .open(first: first, others: others + [waiter])
                        }
                        return false
                    }
                    if isResolved { waiter.resume() }
                }
            }
        }
    }

    /// The result, if it is set.
    private var result: Result<Value, any Error>? {
        state.withLock { state in
            if case .resolved(let result) = state { result } else { nil }
        }
    }
}
