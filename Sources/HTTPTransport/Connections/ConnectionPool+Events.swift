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

    /// The time when ``readDue()`` must be called; `nil` if no bytes are left in sockets, and no connection is idle.
    var nextDue: MonotonicInstant? {
        let expiry = idle.oldest.map { $0.lastUse + Connection.maximumIdleTime }
        guard let read = dueReads.next() else { return expiry }
        return expiry.map { min($0, read) } ?? read
    }

    /// Reads from the connections whose bytes have been left in the socket for long enough, and closes those that have
    /// been idle for too long.
    func readDue() {
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
