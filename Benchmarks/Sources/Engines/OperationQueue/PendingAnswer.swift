import Synchronization

/// A result that is set by a block and awaited by one task.
///
/// Only the first result counts.
final class PendingAnswer<Value: Sendable>: Sendable {
    private enum State {
        case running
        case awaited(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
    }

    private let state = Mutex(State.running)

    func resolve(_ result: Result<Value, any Error>) {
        let continuation: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .running:
                state = .ended(result)
                return nil
            case .awaited(let continuation):
                state = .ended(result)
                return continuation
            case .ended: return nil
            }
        }
        continuation?.resume(with: result)
    }

    /// The result, which only one task may await.
    var value: Value {
        get async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Value, any Error>? = state.withLock { state in
                    if case .ended(let result) = state { return result }
                    state = .awaited(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        }
    }
}
