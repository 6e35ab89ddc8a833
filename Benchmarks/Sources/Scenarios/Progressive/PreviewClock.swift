import Synchronization

/// Counts previews, from any thread, and remembers when the first one came.
final class PreviewClock: Sendable {
    private let started = ContinuousClock.now
    private let state = Mutex((count: 0, first: Duration?.none))

    func tick() {
        let time = ContinuousClock.now - started
        state.withLock { state in
            state.count += 1
            state.first = state.first ?? time
        }
    }

    var count: Int { state.withLock { $0.count } }

    /// After how long the first preview came, if one did.
    var first: Duration? { state.withLock { $0.first } }
}
