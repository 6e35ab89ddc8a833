import Threading

/// The timer of the Swift runtime.
///
/// The runtime opens a file descriptor for it when a task sleeps for the first time, and ends the process if there is none
/// left. The transport's resolver sleeps, and so do delays between tries: better early than late.
enum RuntimeTimer {
    /// A task that sleeps for a moment, once in the life of the process; nil if there was no descriptor when it was due.
    static let opening: Task<Void, Never>? = {
        if OpenFileLimit.isReached { return nil }
        return Task.detached { try? await Task.sleep(for: .nanoseconds(1)) }
    }()
}
