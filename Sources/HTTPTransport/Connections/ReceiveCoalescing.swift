/// The number of bytes that must have arrived before the next part of a body is read.
///
/// A body can arrive in hundreds of pieces of a few kilobytes, each of which would wake the thread. If such pieces
/// follow each other quickly, they are left in the socket until they are worth reading, but only for a short time. A
/// pure value that receives the time as a parameter.
struct ReceiveCoalescing {
    /// The number of bytes that are worth reading.
    static let sufficientCount = 16 << 10
    /// The maximum time for which fewer bytes stay unread.
    static let maximumDelay = Duration.milliseconds(20)

    /// The number of bytes that must have arrived.
    private(set) var minimumCount = 1
    /// The time when even fewer bytes must be read; `nil` if any byte is read at once.
    private(set) var due: MonotonicInstant?
    private var lastRead: MonotonicInstant?

    /// Returns whether bytes can stay unread without being missed by the deadline for silence.
    static func isAllowed(by deadlines: Deadlines) -> Bool {
        deadlines.idle.map { $0 >= maximumDelay * 10 } ?? true
    }

    /// Records that `count` bytes were read at `now`; after them, at least `missing` bytes of the body follow.
    mutating func received(_ count: Int, missing: Int, at now: MonotonicInstant) {
        let isQuick = lastRead.map { $0.duration(to: now) < Self.maximumDelay } ?? false
        lastRead = now
        // Nothing delays the end: a server may send its last bytes only when those before them are acknowledged, which
        // reading hastens.
        guard missing >= Self.sufficientCount, due != nil || isQuick && count < Self.sufficientCount else {
            return stop()
        }
        minimumCount = Self.sufficientCount
        due = now + Self.maximumDelay
    }

    /// Makes the next read happen with the first byte, because none arrived in time, or because the body ended.
    mutating func stop() {
        minimumCount = 1
        due = nil
    }
}
