/// The idle connections of a thread, by server and in the order in which they became idle.
struct IdleConnections {
    /// The number of servers at which the array of one without idle connections is removed.
    private static let maximumEmptyArrays = 64

    /// The HTTP/1.1 connections of each server, the one used last at the end.
    private var http1: [ConnectionKey: [HTTP1Connection]] = [:]
    /// The connection that has been idle longest.
    private(set) var oldest: Connection?
    private var newest: Connection?
    private(set) var count = 0

    mutating func insert(_ connection: HTTP1Connection) {
        http1[connection.key, default: []].append(connection)
        append(connection)
    }

    /// Adds a connection that can be used without being removed.
    mutating func insert(_ connection: HTTP2Connection) { append(connection) }

    /// Removes and returns the HTTP/1.1 connection that was used last; `nil` if there is none.
    mutating func removeLast(for key: ConnectionKey) -> HTTP1Connection? {
        guard let connection = http1[key]?.popLast() else { return nil }
        removed(connection)
        return connection
    }

    mutating func remove(_ connection: HTTP1Connection) {
        guard connection.isIdle else { return }
        http1[connection.key]?.removeAll { $0 === connection }
        removed(connection)
    }

    mutating func remove(_ connection: HTTP2Connection) {
        if connection.isIdle { unlink(connection) }
    }

    private mutating func removed(_ connection: HTTP1Connection) {
        unlink(connection)
        // Empty arrays of a few servers are kept for the next connections.
        if http1.count > Self.maximumEmptyArrays, http1[connection.key]?.isEmpty == true {
            http1[connection.key] = nil
        }
    }

    private mutating func append(_ connection: Connection) {
        connection.isIdle = true
        connection.previousIdle = newest
        newest?.nextIdle = connection
        newest = connection
        if oldest == nil { oldest = connection }
        count += 1
    }

    private mutating func unlink(_ connection: Connection) {
        let (previous, next) = (connection.previousIdle, connection.nextIdle)
        (connection.previousIdle, connection.nextIdle) = (nil, nil)
        connection.isIdle = false
        if let previous { previous.nextIdle = next } else { oldest = next }
        if let next { next.previousIdle = previous } else { newest = previous }
        count -= 1
    }

    /// Separates all connections, whose links would otherwise be released recursively.
    mutating func removeAll() {
        while let connection = oldest { unlink(connection) }
        http1 = [:]
    }
}
