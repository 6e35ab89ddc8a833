import SocketPolling

// Events of the connections' sockets.
extension ConnectionPool {
    /// Handles an event of a socket; returns `false` if it is none of these connections.
    func handle(_ event: SocketEvent) -> Bool {
        switch members[event.descriptor] {
        case nil: return false
        case .handshake(let handshake): advance(handshake)
        case .http1(let connection): handle(event, of: connection)
        case .http2(let connection): handle(event, of: connection)
        }
        return true
    }

    /// The time when ``handleDue()`` must be called; `nil` if no bytes are left in sockets, no connection is idle, and no
    /// server has just asked for calm.
    var nextDue: MonotonicInstant? {
        let expiry = idle.oldest.map { $0.lastUse + Connection.maximumIdleTime }
        return [expiry, dueReads.next(), calmPeriods.next].lazy.compactMap { $0 }.min()
    }

    /// Reads from the connections whose bytes have been left in the socket for long enough, closes those that have been
    /// idle for too long, and lets transfers continue that waited because a server asked for calm.
    func handleDue() {
        calmPeriods.end(at: deadlines.now)
        while let connection = dueReads.remove(at: deadlines.now) { read(connection) }
        let now = deadlines.now
        while let oldest = idle.oldest, oldest.lastUse + Connection.maximumIdleTime <= now, closeOldestIdle() {}
    }

    /// Reads the received bytes that the poller does not report.
    func readUnfinished() {
        guard !unfinished.isEmpty else { return }
        let connections = unfinished
        unfinished.removeAll(keepingCapacity: true)
        for connection in connections {
            connection.isInUnfinished = false
            switch members[connection.descriptor] {
            case .http1(let member) where member === connection && member.transfer != nil: read(member)
            case .http2(let member) where member === connection: read(member)
            default: break
            }
        }
    }

    /// Reads from a connection again, if bytes have been received that the poller does not report.
    func readAgainIfNeeded(_ connection: HTTP1Connection) {
        if !connection.isPaused, !connection.hasEnded, connection.stream.hasReceivedBytes {
            isUnfinished(connection)
        }
    }

    /// Reads from a connection again, if bytes have been received that the poller does not report.
    func readAgainIfNeeded(_ connection: HTTP2Connection) {
        if !connection.isClosed, connection.stream.hasReceivedBytes { isUnfinished(connection) }
    }

    private func isUnfinished(_ connection: Connection) {
        guard !connection.isInUnfinished else { return }
        connection.isInUnfinished = true
        unfinished.append(connection)
    }
}
