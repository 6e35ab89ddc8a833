/// A timer that calls back once, at the time it was last set to.
///
/// Releasing it cancels it.
final class Alarm<Time: Clock> {
    private let clock: Time
    private let call: @Sendable () -> Void
    private var pending: (time: Time.Instant, task: Task<Void, Never>)?

    init(clock: Time, call: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.call = call
    }

    /// The current time.
    var now: Time.Instant { clock.now }

    deinit { pending?.task.cancel() }

    /// Sets the time, replacing any other.
    func set(_ time: Time.Instant) {
        guard pending?.time != time else { return }
        pending?.task.cancel()
        // A detached task, because it can wake any waiting task.
        let task = Task.detached { [clock, call] in
            // Canceled: there is another time, or the timer was released.
            guard (try? await clock.sleep(until: time, tolerance: nil)) != nil else { return }
            call()
        }
        pending = (time, task)
    }
}
