/// The readers of a body that wait for bytes.
struct ReaderWaits {
    /// The bytes for which a reader waits.
    enum Goal {
        /// Any bytes.
        case bytes
        /// As many bytes as are worth waking a thread.
        case batch
        /// The whole body, or as much of it as is received and kept before the reader reads it.
        case body
    }

    private enum Wait {
        case waiting(Goal, CheckedContinuation<Void, Never>)
        /// The next wait returns immediately.
        case poked
    }

    private var waits: [BodyBuffer.ReaderID: Wait] = [:]

    var isEmpty: Bool { waits.isEmpty }

    mutating func insert(_ id: BodyBuffer.ReaderID, _ goal: Goal, _ continuation: CheckedContinuation<Void, Never>) {
        waits[id] = .waiting(goal, continuation)
    }

    /// Returns whether a reader has been woken since its last wait.
    mutating func takePoke(of id: BodyBuffer.ReaderID) -> Bool {
        guard case .poked? = waits[id] else { return false }
        waits[id] = nil
        return true
    }

    /// Ends the wait of a reader, or lets its next one return immediately.
    mutating func wake(_ id: BodyBuffer.ReaderID) -> CheckedContinuation<Void, Never>? {
        guard case .waiting(_, let continuation)? = waits[id] else {
            waits[id] = .poked
            return nil
        }
        waits[id] = nil
        return continuation
    }

    /// Forgets a reader, which does not wait.
    mutating func remove(_ id: BodyBuffer.ReaderID) { waits[id] = nil }

    /// Returns the readers that wait for a goal for which `isReady` returns `true`.
    func ready(where isReady: (BodyBuffer.ReaderID, Goal) -> Bool) -> [BodyBuffer.ReaderID] {
        var ready: [BodyBuffer.ReaderID] = []
        for (id, wait) in waits {
            if case .waiting(let goal, _) = wait, isReady(id, goal) { ready.append(id) }
        }
        return ready
    }
}
