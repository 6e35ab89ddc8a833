import Synchronization

/// Counts previews, from any thread, and records the time of the first one.
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

    /// The time until the first preview, if there was one.
    var first: Duration? { state.withLock { $0.first } }
}
