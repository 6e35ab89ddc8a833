/// The servers that negotiate HTTP/2 but require HTTP/1.1 (RFC 9113, section 7: HTTP_1_1_REQUIRED).
struct HTTP1Requirements {
    /// The number of servers that are remembered.
    static let maximumServers = 1_024
    /// The time for which a server is remembered.
    static let period = Duration.seconds(3_600)

    private var ends: [ConnectionKey: MonotonicInstant] = [:]

    /// Returns whether requests need connections with HTTP/1.1 at `now`.
    func contains(_ key: ConnectionKey, at now: MonotonicInstant) -> Bool {
        ends[key].map { now < $0 } ?? false
    }

    /// Records that a server requires HTTP/1.1.
    mutating func insert(_ key: ConnectionKey, at now: MonotonicInstant) {
        // Forgetting costs a request that the server does not process.
        if ends[key] == nil, ends.count >= Self.maximumServers { ends.removeAll(keepingCapacity: true) }
        ends[key] = now + Self.period
    }

    /// Forgets a server, which may speak nothing but HTTP/2 after all.
    mutating func remove(_ key: ConnectionKey) { ends[key] = nil }
}
