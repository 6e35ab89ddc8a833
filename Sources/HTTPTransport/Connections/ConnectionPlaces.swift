import DequeModule

/// The places for transfers at servers that require HTTP/1.1 after they have negotiated HTTP/2.
///
/// More transfers than a server may get connections were to share one; the others wait until a place is free.
struct ConnectionPlaces {
    private struct Server {
        /// The number of places, as the latest transfer demands.
        var limit: Int
        var takenCount = 0
        var waiting: Deque<UInt64> = []
    }

    /// The servers at which places are taken or waited for.
    private var servers: [ConnectionKey: Server] = [:]
    /// The servers at which a place became free while transfers waited.
    private var freed: Deque<ConnectionKey> = []

    /// A Boolean value that indicates whether transfers may no longer have to wait.
    var hasReleased: Bool { !freed.isEmpty }

    /// Takes one of `limit` places at a server until ``giveBack(_:)``; returns `false` if the transfer waits instead.
    mutating func take(for transfer: UInt64, at key: ConnectionKey, limit: Int) -> Bool {
        servers[key, default: Server(limit: limit)].limit = limit
        guard let server = servers[key], server.takenCount < limit else {
            servers[key]?.waiting.append(transfer)
            return false
        }
        servers[key]?.takenCount += 1
        return true
    }

    /// Gives a place back.
    mutating func giveBack(_ key: ConnectionKey) {
        servers[key]?.takenCount -= 1
        if servers[key]?.waiting.isEmpty == false { freed.append(key) }
        forgetIfUnused(key)
    }

    /// Removes a transfer that ends while it waits.
    mutating func withdraw(_ transfer: UInt64, from key: ConnectionKey) {
        servers[key]?.waiting.removeAll { $0 == transfer }
        forgetIfUnused(key)
    }

    /// Removes and returns a transfer that may take a place; `nil` if there is none.
    ///
    /// Transfers are returned until the places are taken, because some look their host up again first, in vain.
    mutating func takeReleased() -> UInt64? {
        while let key = freed.first {
            if let server = servers[key], server.takenCount < server.limit, !server.waiting.isEmpty {
                defer { forgetIfUnused(key) }
                return servers[key]?.waiting.popFirst()
            }
            freed.removeFirst()
        }
        return nil
    }

    private mutating func forgetIfUnused(_ key: ConnectionKey) {
        if let server = servers[key], server.takenCount == 0, server.waiting.isEmpty { servers[key] = nil }
    }
}
