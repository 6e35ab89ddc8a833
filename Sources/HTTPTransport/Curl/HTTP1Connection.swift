import HTTPTypes

/// A TCP connection to a server, over which requests are sent and responses are read in HTTP/1.1.
///
/// Confined to the worker's thread.
final class HTTP1Connection {
    /// The time after which an idle connection is no longer used, as in libcurl: the server has probably closed it.
    static let maximumIdleTime = Duration.seconds(118)

    let socket: Socket
    /// The key of the requests that the connection can be used for.
    let key: ConnectionKey
    /// The transfer whose request was sent last, until its connection is no longer needed.
    var transfer: CurlTransfer?
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
            socket.setMinimumCount(coalescing.minimumCount)
        }
    }
    /// A Boolean value that indicates whether the connection is among those that must be read at a known time.
    var isInDueReads = false
    /// A Boolean value that indicates whether the transfer has ended, successfully or not.
    var hasEnded = false
    /// A Boolean value that indicates whether the response has been delivered to its end, and nothing followed it.
    var isDrained = false
    /// The time when the connection became idle, or was established.
    private(set) var lastUse: MonotonicInstant
    /// The time when the connection was established; `nil` once it has been idle, that is, for all later requests.
    private(set) var established: MonotonicInstant?
    /// The time when the first byte of the response arrived.
    private(set) var firstByte: MonotonicInstant?

    /// Creates a connection that was established at `now`.
    init(_ socket: Socket, key: ConnectionKey, now: MonotonicInstant) {
        self.socket = socket
        self.key = key
        lastUse = now
        established = now
    }

    var descriptor: Int32 { socket.descriptor }

    /// A Boolean value that indicates whether another request can be sent.
    var isReusable: Bool { isDrained && reader.allowsReuse && unsent.isEmpty }

    /// Returns whether an idle connection can be used at `now`: it has not been idle for too long, and the server has
    /// neither closed it nor sent anything, which would be taken for the response to the next request.
    func isUsable(at now: MonotonicInstant) -> Bool {
        lastUse.duration(to: now) < Self.maximumIdleTime && socket.isSilent
    }

    /// Prepares for the request of `transfer`.
    func begin(_ transfer: CurlTransfer) {
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

    /// Keeps the connection for another request, without the memory that the response has taken.
    func becomeIdle(at now: MonotonicInstant) {
        // A long header line, of which every idle connection would keep a copy.
        reader = HTTP1ResponseReader()
        lastUse = now
        established = nil
    }
}
