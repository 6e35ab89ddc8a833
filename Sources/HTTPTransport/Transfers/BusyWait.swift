import Threading

/// Polls for a short time before a thread sleeps, if something to do is likely to arrive soon.
///
/// Putting a thread to sleep and waking it takes about as long as ``pollingTime``, so polling in vain at most doubles
/// the cost of a wait. After that, the thread sleeps immediately, until a sleep is short.
struct BusyWait {
    /// The maximum time that a thread polls before it sleeps.
    static let pollingTime = Duration.microseconds(50)
    /// The maximum length of a sleep after which the next wait is likely to be short; includes the time to wake up.
    static let shortSleep = Duration.microseconds(100)

    private static let hasSeveralProcessors = availableProcessorCount() > 1

    private let isAllowed: Bool
    private let now: () -> MonotonicInstant
    /// A Boolean value that indicates whether the next wait is likely to be short.
    private var isLikelyShort = false

    /// Creates a wait that polls only if `isAllowed`: with one processor, nothing else would make progress.
    init(isAllowed: Bool = hasSeveralProcessors, now: @escaping () -> MonotonicInstant = { .now }) {
        self.isAllowed = isAllowed
        self.now = now
    }

    /// Returns the result of `poll` as soon as there is one, or that of `sleep`, which may take up to `timeout`.
    mutating func result<Result>(within timeout: Duration?, poll: () -> Result?, sleep: () -> Result) -> Result {
        // Nothing is expected to arrive.
        if timeout == .zero { return sleep() }
        var time = now()
        if isAllowed, isLikelyShort, timeout.map({ $0 >= Self.pollingTime }) ?? true {
            let end = time + Self.pollingTime
            repeat {
                if let result = poll() { return result }
                time = now()
            } while time < end
        }
        let result = sleep()
        isLikelyShort = time.duration(to: now()) <= Self.shortSleep
        return result
    }
}
