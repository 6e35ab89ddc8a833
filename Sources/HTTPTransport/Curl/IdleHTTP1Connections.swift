/// The idle connections of a thread over which this module itself speaks HTTP/1.1, for each server.
struct IdleHTTP1Connections {
    /// The number of servers at which the array of one without idle connections is removed.
    private static let maximumEmptyArrays = 64

    /// The connections of each server, the one used last at the end.
    private var connections: [ConnectionKey: [HTTP1Connection]] = [:]
    private(set) var count = 0

    mutating func insert(_ connection: HTTP1Connection) {
        connections[connection.key, default: []].append(connection)
        count += 1
    }

    /// Removes and returns the connection that was used last; `nil` if there is none.
    mutating func removeLast(for key: ConnectionKey) -> HTTP1Connection? {
        guard let connection = connections[key]?.popLast() else { return nil }
        connectionRemoved(from: key)
        return connection
    }

    mutating func remove(_ connection: HTTP1Connection) {
        connections[connection.key]?.removeAll { $0 === connection }
        connectionRemoved(from: connection.key)
    }

    /// Removes and returns the connection that has been idle longest; `nil` if there is none.
    mutating func removeOldest() -> HTTP1Connection? {
        guard count > 0,
            let oldest = connections.values.lazy.compactMap(\.first).min(by: { $0.lastUse < $1.lastUse })
        else { return nil }
        remove(oldest)
        return oldest
    }

    private mutating func connectionRemoved(from key: ConnectionKey) {
        count -= 1
        // Empty arrays of a few servers are kept for the next connections.
        if connections.count > Self.maximumEmptyArrays, connections[key]?.isEmpty == true { connections[key] = nil }
    }
}
