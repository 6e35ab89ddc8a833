/// Finds connections of plain HTTP that bring bytes and nothing else: chunk extensions without end, for example.
///
/// libcurl skips what belongs to no header line and no body, and calls nobody back, so that no limit and no deadline
/// but that of the idle transfer would end it. HTTP/2, where a connection brings the bytes of transfers that have paused,
/// is left to ``FloodGuard``.
struct SilentReads {
    /// The number of bytes that may arrive without any of them being a line of a header or a part of a body.
    ///
    /// More than a header line may have (``ResponseHeadParser/limit``), and than libcurl reads at a time.
    static let limit: Int64 = 256 << 10

    private var watched: Set<Int32> = []
    /// Of the connections whose last call brought nothing: the number of bytes that had been read by then.
    private var bytesRead: [Int32: Int64] = [:]

    /// Watches a connection from now on.
    mutating func watch(_ descriptor: Int32) { watched.insert(descriptor) }

    /// Notes the end of a call of libcurl for a connection that was readable, and returns whether to end the connection.
    ///
    /// - Parameters:
    ///   - descriptor: The connection.
    ///   - calledBack: Whether libcurl has handed over a line or a part of a body.
    ///   - count: Returns the number of bytes read from the connection so far; negative if that is unknown.
    mutating func note(_ descriptor: Int32, calledBack: Bool, count: () -> Int64) -> Bool {
        guard !calledBack else {
            if !bytesRead.isEmpty { bytesRead[descriptor] = nil }
            return false
        }
        guard watched.contains(descriptor) else { return false }
        let now = count()
        guard let before = bytesRead[descriptor] else {
            bytesRead[descriptor] = now
            return false
        }
        return before >= 0 && now - before > Self.limit
    }

    /// Forgets a connection that is closed.
    mutating func forget(_ descriptor: Int32) {
        watched.remove(descriptor)
        if !bytesRead.isEmpty { bytesRead[descriptor] = nil }
    }
}
