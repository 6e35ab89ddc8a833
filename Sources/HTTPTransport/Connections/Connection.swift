/// A connection to a server, over which this module itself speaks HTTP.
///
/// Confined to the worker's thread.
class Connection {
    /// The time after which an idle connection is closed, as in libcurl: the server has probably closed it.
    static let maximumIdleTime = Duration.seconds(118)

    let stream: ByteStream
    /// The key of the requests that the connection can be used for.
    let key: ConnectionKey
    /// The times when the connection was established.
    let start: ConnectionStart
    /// The time when the connection became idle, or was established.
    private(set) var lastUse: MonotonicInstant
    /// A Boolean value that indicates whether the connection has been idle, so that its later requests reuse it.
    private(set) var hasBeenIdle = false

    /// The connections that became idle before and after this one; see ``IdleConnections``.
    unowned var previousIdle: Connection?
    var nextIdle: Connection?
    var isIdle = false
    /// A Boolean value that indicates whether the connection is among those with received bytes that the poller does not
    /// report.
    var isInUnfinished = false

    init(_ stream: ByteStream, key: ConnectionKey, start: ConnectionStart) {
        self.stream = stream
        self.key = key
        self.start = start
        lastUse = start.end
    }

    var descriptor: Int32 { stream.descriptor }

    /// Returns whether an idle connection can be used at `now`: it has not been idle for too long, and the server has
    /// neither closed it nor sent anything, which would be taken for the response to the next request.
    func isUsable(at now: MonotonicInstant) -> Bool {
        lastUse.duration(to: now) < Self.maximumIdleTime && stream.isSilent
    }

    /// Keeps the connection for another request.
    func becomeIdle(at now: MonotonicInstant) {
        lastUse = now
        hasBeenIdle = true
    }
}
