import Threading

/// The timer of the Swift runtime.
///
/// The runtime opens a file descriptor for it when a task first sleeps, and terminates the process if none is
/// available. The transport's resolver sleeps, and so do retry delays: opening it early avoids the crash.
package enum RuntimeTimer {
    /// A task that sleeps briefly, once per process; `nil` if there was no file descriptor when it was needed.
    ///
    /// A shorter time can be over before the timer is needed, which is then not opened.
    package static let opening: Task<Void, Never>? = {
        if OpenFileLimit.isReached { return nil }
        return Task.detached { try? await Task.sleep(for: .milliseconds(1)) }
    }()
}
