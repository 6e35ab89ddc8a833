/// A connection that transfers share, as streams of HTTP/2.
final class HTTP2Connection: Connection {
    let session: HTTP2Session
    private unowned let pool: ConnectionPool
    /// The streams of transfers, by number.
    var streams: [Int32: HTTP2Stream] = [:]
    /// The streams with short parts of a body that have been collected since the last read.
    var collecting: [HTTP2Stream] = []
    /// A Boolean value that indicates whether the connection is among those with frames to send.
    var isInUnsent = false
    /// A Boolean value that indicates whether the poller reports when more can be sent.
    var waitsToSend = false
    /// A Boolean value that indicates whether no more streams are opened, because the server does not respond anymore.
    var isRetired = false
    /// A Boolean value that indicates whether the connection is closed.
    var isClosed = false
    /// A Boolean value that indicates whether nothing can be sent anymore.
    var isBroken = false
    /// A Boolean value that indicates whether the connection is among those that have room for another stream.
    var isInRoomy = false
    /// The time when bytes were received most recently; `nil` if none have been.
    var lastRead: MonotonicInstant?
    /// The transfer that is retried over the connection, until the server's limit of streams is known.
    var opener: ActiveTransfer?

    init(
        _ stream: ByteStream, key: ConnectionKey, start: ConnectionStart, of pool: ConnectionPool
    ) throws(HTTP2Failure) {
        self.pool = pool
        session = try HTTP2Session()
        super.init(stream, key: key, start: start)
        session.delegate = self
    }

    /// A Boolean value that indicates whether another stream can be opened.
    var isOpen: Bool { !isClosed && !isRetired && !isBroken && session.canOpenStream }

    /// Returns whether `transfer` can use the connection, unless the server has closed it meanwhile; a retry must not
    /// depend on another old connection.
    func mayHaveRoom(for transfer: ActiveTransfer) -> Bool {
        guard isOpen else { return false }
        guard case .repeated(let earliest, _) = transfer.attempt else { return true }
        return earliest < start.end && session.hasPeerSettings
    }

    /// A Boolean value that indicates whether the connection is to be closed after its last stream.
    var isEnding: Bool { isRetired || isBroken || session.isDraining }
}

extension HTTP2Connection: HTTP2SessionDelegate {
    func receive(headerLines lines: Span<UInt8>, of number: Int32) {
        if let stream = streams[number] { pool.receive(headerLines: lines, of: stream) }
    }

    func receive(body: Span<UInt8>, of number: Int32) {
        if let stream = streams[number] { pool.receive(body: body, of: stream) }
    }

    func end(of number: Int32, _ end: HTTP2StreamEnd) {
        if let stream = streams[number] { pool.receive(end, of: stream) }
    }
}

/// The request of a transfer on an ``HTTP2Connection``, and its response.
final class HTTP2Stream {
    let connection: HTTP2Connection
    let number: Int32
    let transfer: ActiveTransfer
    /// A Boolean value that indicates whether it is the first one on the connection, which was opened for it.
    let isFirst: Bool
    /// The time when bytes of the response were received most recently, or the request was passed to the connection.
    var lastRead: MonotonicInstant
    /// The bytes of the body that have been received and not delivered.
    var undelivered: [UInt8] = []
    /// A Boolean value that indicates whether the transfer is paused.
    var isPaused = false
    /// A Boolean value that indicates whether the transfer has ended, successfully or not.
    var hasEnded = false
    /// The end of the stream, once it has been received.
    var end: HTTP2StreamEnd?
    /// The time when the first byte of the response arrived.
    var firstByte: MonotonicInstant?

    init(
        _ number: Int32, on connection: HTTP2Connection, for transfer: ActiveTransfer, isFirst: Bool,
        at now: MonotonicInstant
    ) {
        self.connection = connection
        self.number = number
        self.transfer = transfer
        self.isFirst = isFirst
        lastRead = now
    }
}
