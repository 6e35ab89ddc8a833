import DequeModule

/// The connections whose bytes are left in the socket, in the order in which they must be read.
struct DueReads {
    private var queue: Deque<(connection: HTTP1Connection, due: MonotonicInstant)> = []

    /// Adds a connection, once until it is removed.
    mutating func insert(_ connection: HTTP1Connection) {
        guard let due = connection.coalescing.due, !connection.isInDueReads else { return }
        connection.isInDueReads = true
        queue.append((connection, due))
    }

    /// Returns the time when a connection must be read; `nil` if there is none.
    mutating func next() -> MonotonicInstant? {
        while let (connection, due) = queue.first {
            let current = connection.coalescing.due
            if current == due { return due }
            // It has been read since it was added.
            queue.removeFirst()
            if let current {
                queue.append((connection, current))
            } else {
                connection.isInDueReads = false
            }
        }
        return nil
    }

    /// Removes and returns a connection that must be read at `now`; `nil` if there is none.
    mutating func remove(at now: MonotonicInstant) -> HTTP1Connection? {
        guard let due = next(), due <= now else { return nil }
        let connection = queue.removeFirst().connection
        connection.isInDueReads = false
        return connection
    }
}
