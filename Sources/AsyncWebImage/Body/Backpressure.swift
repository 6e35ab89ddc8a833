/// The rule for pausing the transfer of a body and for resuming it; a pure value.
///
/// A transfer is paused while the readers of its body lag behind, or while the bodies of all downloads hold too much
/// memory. Callers that wait for the whole body hold it back only for memory.
struct Backpressure: Equatable {
    /// The reason for a pause.
    enum Pause {
        /// The readers lag behind.
        case readers
        /// There is no memory for more of the body.
        case memory
    }

    /// The use that is made of a body.
    struct Consumption: Equatable {
        var hasReaders = true
        /// A Boolean value that indicates whether callers wait for the whole body.
        var isCollected = false
        /// A Boolean value that indicates whether all readers, if there are any, limit the read-ahead.
        var limitsReadAhead = false
        /// A Boolean value that indicates whether the body is kept from its first byte.
        var hasBeginning = true
        /// The number of bytes that the slowest reader has not read.
        ///
        /// A suspended reader does not count if others are not suspended: it might wait for memory that they hold.
        var unread = 0

        /// A Boolean value that indicates whether the readers alone determine how fast the body is received.
        var isPacedByReaders: Bool { hasReaders && !isCollected }

        /// A Boolean value that indicates whether the transfer must wait for the readers.
        var isFull: Bool {
            guard isPacedByReaders else { return false }
            if limitsReadAhead { return unread >= limitedReadAhead }
            return !hasBeginning && unread >= highWater
        }

        /// The maximum number of bytes to receive at once.
        var maximumPiece: Int { limitsReadAhead && !isCollected ? limitedReadAhead : .max }

        /// A Boolean value that indicates whether the readers have caught up so far that a paused transfer continues.
        fileprivate var hasCaughtUp: Bool { !isPacedByReaders || unread <= (limitsReadAhead ? 0 : lowWater) }
    }

    /// The number of unread bytes from which the transfer is paused; it is resumed at the lower mark.
    static let highWater = 1 << 20
    static let lowWater = 256 << 10
    /// The same for readers that limit the read-ahead; the transfer is resumed when they have read everything.
    static let limitedReadAhead = 16 << 10

    /// The reason why the transfer is paused; `nil` if it is not.
    private(set) var pause: Pause?

    /// Pauses the transfer.
    mutating func pause(for reason: Pause) { pause = reason }

    /// Notes that there may be memory again: only the readers can hold the transfer back.
    mutating func memoryGranted() {
        if pause == .memory { pause = .readers }
    }

    /// Returns whether the transfer was paused and continues now.
    mutating func resume(_ consumption: Consumption, hasMemory: Bool) -> Bool {
        guard let pause, consumption.hasCaughtUp, pause == .readers || hasMemory else { return false }
        self.pause = nil
        return true
    }
}
