import DequeModule

/// The transfers that wait while the first connection to their server shows whether transfers can share it.
///
/// TLS negotiates HTTP/2 or HTTP/1.1 (RFC 7301). Until that is known for a server, or if it is HTTP/2, one connection is
/// opened at a time.
struct ConnectionGate {
    /// The number of servers whose protocol is remembered.
    static let maximumServers = 4_096

    private struct Server {
        /// The transfer for which a connection is being opened; `nil` until a transfer that waited opens one.
        var opener: UInt64?
        var waiting: Deque<UInt64> = []
    }

    private var servers: [ConnectionKey: Server] = [:]
    /// The servers of which transfers do not wait for each other: those with HTTP/1.1, or without any answer.
    private var separate: Set<ConnectionKey> = []
    /// The transfers that no longer wait, in order.
    private var released: Deque<UInt64> = []
    /// The servers of which transfers wait although no connection is being opened.
    private var unopened: Deque<ConnectionKey> = []

    /// A Boolean value that indicates whether transfers no longer wait.
    var hasReleased: Bool { !released.isEmpty || !unopened.isEmpty }

    /// Returns whether a connection may be opened for a transfer; otherwise, the transfer waits.
    mutating func mayConnect(_ transfer: UInt64, to key: ConnectionKey) -> Bool {
        guard !separate.contains(key) else { return true }
        guard let opener = servers[key]?.opener else {
            servers[key, default: Server()].opener = transfer
            return true
        }
        if opener == transfer { return true }
        servers[key]?.waiting.append(transfer)
        return false
    }

    /// Records that a connection has been established, and whether transfers share it.
    mutating func connected(to key: ConnectionKey, isShared: Bool) {
        setSeparate(!isShared, key)
        release(key)
    }

    /// Records that a transfer no longer opens a connection; if `failed`, those that wait need not try one after the
    /// other.
    mutating func ended(_ transfer: UInt64, to key: ConnectionKey, failed: Bool) {
        guard servers[key]?.opener == transfer else { return }
        if failed { setSeparate(true, key) }
        release(key)
    }

    /// Returns a transfer that no longer waits; `nil` if there is none.
    ///
    /// The transfers for a server that shares connections are returned until one of them opens a connection, because
    /// the others would only wait again.
    mutating func takeReleased() -> UInt64? {
        if let transfer = released.popFirst() { return transfer }
        while let key = unopened.first {
            if servers[key]?.opener == nil, let transfer = servers[key]?.waiting.popFirst() { return transfer }
            unopened.removeFirst()
            if servers[key]?.opener == nil { servers[key] = nil }
        }
        return nil
    }

    private mutating func release(_ key: ConnectionKey) {
        guard let server = servers[key] else { return }
        if separate.contains(key) || server.waiting.isEmpty {
            servers[key] = nil
            released.append(contentsOf: server.waiting)
        } else {
            servers[key]?.opener = nil
            if server.opener != nil { unopened.append(key) }
        }
    }

    private mutating func setSeparate(_ isSeparate: Bool, _ key: ConnectionKey) {
        guard isSeparate else {
            separate.remove(key)
            return
        }
        // Forgetting costs a wait for the first of the next connections.
        if separate.count >= Self.maximumServers { separate.removeAll(keepingCapacity: true) }
        separate.insert(key)
    }
}
