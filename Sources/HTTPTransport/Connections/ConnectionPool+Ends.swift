import SocketPolling

// The end of requests and connections.
extension ConnectionPool {
    /// Continues to deliver the response to `transfer`, which was paused, if it has a connection of these.
    func resume(_ transfer: ActiveTransfer) {
        switch transfer.exchange {
        case let connection as HTTP1Connection: resume(connection)
        case let stream as HTTP2Stream: resume(stream)
        default: break
        }
    }

    /// Records that no connection is opened for `transfer` anymore, if one was.
    func stopConnecting(_ transfer: ActiveTransfer) {
        stopConnecting(transfer, failed: !transfer.handle.isCancelled)
    }

    /// Records it, and whether the attempt failed.
    func stopConnecting(_ transfer: ActiveTransfer, failed: Bool) {
        guard let key = transfer.openedKey else { return }
        transfer.openedKey = nil
        gate.ended(transfer.handle.id, to: key, failed: failed)
    }

    /// Separates `transfer` from its connection, if that is one of these, which is kept for another request if that is
    /// possible.
    func release(_ transfer: ActiveTransfer) {
        if let key = transfer.placeKey {
            transfer.placeKey = nil
            places.giveBack(key)
        }
        switch transfer.exchange {
        case let handshake as TLSHandshake:
            transfer.exchange = nil
            handshake.hasEnded = true
            close(.handshake(handshake))
        case let connection as HTTP1Connection:
            transfer.exchange = nil
            connection.transfer = nil
            guard connection.isReusable else { return close(connection) }
            connection.becomeIdle(at: deadlines.now)
            idle.insert(connection)
            limitIdle()
        case let stream as HTTP2Stream:
            transfer.exchange = nil
            release(stream)
        default: break
        }
    }

    /// Closes an idle connection if there are more than there may be.
    func limitIdle() {
        if poller.connectionCount > maximumIdleConnections { closeOldestIdle() }
    }

    /// Closes the connection that has been idle longest; returns `false` if there is none.
    @discardableResult
    func closeOldestIdle() -> Bool {
        guard let oldest = idle.oldest, let member = members[oldest.descriptor] else { return false }
        switch member {
        case .http1(let connection):
            idle.remove(connection)
            close(connection)
        case .http2(let connection): close(connection)
        case .handshake: return false
        }
        return true
    }

    /// Closes an HTTP/1.1 connection that is not idle.
    func close(_ connection: HTTP1Connection) {
        connection.coalescing.stop()
        close(.http1(connection))
    }

    func close(_ member: Member) {
        let descriptor = member.stream.descriptor
        members[descriptor] = nil
        closedCount += 1
        poller.connectionClosed(descriptor)
        member.stream.close()
    }
}

extension ConnectionPool.Member {
    /// The bytes of the connection.
    var stream: ByteStream {
        switch self {
        case .handshake(let handshake): .secure(handshake.tls)
        case .http1(let connection): connection.stream
        case .http2(let connection): connection.stream
        }
    }
}
