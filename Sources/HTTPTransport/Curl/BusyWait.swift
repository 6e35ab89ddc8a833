import Threading

/// A wait of a thread that looks for work repeatedly before it sleeps, if more is likely to arrive soon.
///
/// Putting a thread to sleep and waking it takes about as long as ``limit``, so a wait in vain at most doubles the cost
/// of a wait. After that, the thread sleeps at once, until a sleep is short.
struct BusyWait {
    /// The maximum time that a thread looks for work before it sleeps.
    static let limit = Duration.microseconds(50)
    /// The maximum length of a sleep after which the next wait is likely to be short; includes the time to wake up.
    static let shortSleep = Duration.microseconds(100)

    private static let hasSeveralProcessors = availableProcessorCount() > 1

    private let isAllowed: Bool
    private let now: () -> ContinuousClock.Instant
    /// A Boolean value that indicates whether the next wait is likely to be short.
    private var isLikelyShort = false

    /// Creates a wait that is busy only if `isAllowed`: with one processor, nothing else would make progress.
    init(isAllowed: Bool = hasSeveralProcessors, now: @escaping () -> ContinuousClock.Instant = { .now }) {
        self.isAllowed = isAllowed
        self.now = now
    }

    /// Returns the result of `look` as soon as there is one, or that of `sleep`, which may take up to `timeout`.
    mutating func result<Result>(within timeout: Duration?, look: () -> Result?, sleep: () -> Result) -> Result {
        var time = now()
        if isAllowed, isLikelyShort, timeout.map({ $0 >= Self.limit }) ?? true {
            let end = time + Self.limit
            repeat {
                if let result = look() { return result }
                time = now()
            } while time < end
        }
        let result = sleep()
        isLikelyShort = time.duration(to: now()) <= Self.shortSleep
        return result
    }
}
