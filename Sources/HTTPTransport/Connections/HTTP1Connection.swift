import HTTPTypes

/// A connection over which requests are sent and responses are read in HTTP/1.1.
final class HTTP1Connection: Connection {
    /// The transfer whose request was sent last, until its connection is no longer needed.
    var transfer: ActiveTransfer?
    /// The reader of the response to that request.
    var reader = HTTP1ResponseReader()
    /// The part of the request that has not been sent yet.
    var unsent: [UInt8] = []
    /// The bytes of the body that have not been delivered, because the transfer is paused.
    var undelivered: [UInt8] = []
    /// The received bytes after those, which have not been read.
    var unread: [UInt8] = []
    /// A Boolean value that indicates whether the transfer is paused.
    var isPaused = false
    /// The number of bytes to wait for before the next read.
    var coalescing = ReceiveCoalescing() {
        didSet {
            guard coalescing.minimumCount != oldValue.minimumCount else { return }
            stream.setMinimumCount(coalescing.minimumCount)
        }
    }
    /// A Boolean value that indicates whether the connection is among those that must be read at a known time.
    var isInDueReads = false
    /// A Boolean value that indicates whether the transfer has ended, successfully or not.
    var hasEnded = false
    /// A Boolean value that indicates whether the response has been delivered to its end, and nothing followed it.
    var isDrained = false
    /// The time when the first byte of the response arrived.
    private(set) var firstByte: MonotonicInstant?

    /// A Boolean value that indicates whether another request can be sent.
    var isReusable: Bool { isDrained && reader.allowsReuse && unsent.isEmpty }

    /// Prepares for the request of `transfer`.
    func begin(_ transfer: ActiveTransfer) {
        self.transfer = transfer
        reader = HTTP1ResponseReader(isHead: transfer.request.method == .head)
        firstByte = nil
        isDrained = false
        hasEnded = false
    }

    /// Records the arrival of bytes.
    func noteBytes(at now: MonotonicInstant) {
        if firstByte == nil { firstByte = now }
    }

    override func becomeIdle(at now: MonotonicInstant) {
        super.becomeIdle(at: now)
        // A long header line, of which every idle connection would keep a copy.
        reader = HTTP1ResponseReader()
    }
}
