/// The uses of files that have not been recorded in their times yet, because that can wait for a disk.
struct PendingUses: Sendable {
    /// The number of uses from which they must be recorded.
    static let batch = 256
    /// The maximum number of uses; further ones are not recorded until a thread has recorded these.
    static let maximumCount = 16 * batch
    /// The age of the recorded use, in nanoseconds, up to which a further use need not be recorded.
    static let precision = 1_000_000_000
    /// The age of the recorded use, in nanoseconds, from which a further use must be recorded soon.
    static let maximumAge = 10 * precision

    /// The times of the last uses by key, in nanoseconds since 1970.
    private var times: [ResponseStorageKey: Int] = [:]
    /// A Boolean value that indicates whether a caller has been told to record them.
    private var isDue = false

    /// Adds a use; returns whether the caller must have all uses recorded.
    mutating func insert(_ key: ResponseStorageKey, at time: Int, after recorded: Int) -> Bool {
        // Negative for a time in the future, which is one of a clock that has been set back since. Any time can be the
        // difference: a file system has later ones than nanoseconds since 1970.
        let age = time &- recorded
        guard !(0..<Self.precision).contains(age), times.count < Self.maximumCount else { return false }
        times[key] = time
        guard !isDue, !(0..<Self.maximumAge).contains(age) || times.count >= Self.batch else { return false }
        isDue = true
        return true
    }

    /// Removes and returns all uses.
    mutating func removeAll() -> [ResponseStorageKey: Int] {
        defer { self = PendingUses() }
        return times
    }
}
