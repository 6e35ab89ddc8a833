/// Calls back once, at the time it was last set to.
///
/// Letting it go takes it back.
final class Alarm<Time: Clock> {
    private let clock: Time
    private let call: @Sendable () -> Void
    private var pending: (time: Time.Instant, task: Task<Void, Never>)?

    init(clock: Time, call: @escaping @Sendable () -> Void) {
        self.clock = clock
        self.call = call
    }

    /// What time it is.
    var now: Time.Instant { clock.now }

    deinit { pending?.task.cancel() }

    /// Sets it, in place of any other time.
    func set(_ time: Time.Instant) {
        guard pending?.time != time else { return }
        pending?.task.cancel()
        // Nobody's task: it wakes whoever waits by then.
        let task = Task.detached { [clock, call] in
            // Canceled: there is another time, or nobody to wake.
            guard (try? await clock.sleep(until: time, tolerance: nil)) != nil else { return }
            call()
        }
        pending = (time, task)
    }
}
