/// Finds connections of plain HTTP that deliver bytes without any response data, for example endless chunk
/// extensions.
///
/// libcurl skips bytes that belong to no header line and no body without calling back, so that only the idle deadline
/// would apply. HTTP/2, where a connection carries the bytes of paused transfers, is handled by ``FloodGuard``.
struct SilentReads {
    /// The maximum number of bytes that can arrive without a header line or a part of a body.
    ///
    /// More than a header line can have (``ResponseHeadParser/limit``), and more than libcurl reads at a time.
    static let limit: Int64 = 256 << 10

    private var watched: Set<Int32> = []
    /// For connections whose last call delivered nothing: the number of bytes read until then.
    private var bytesRead: [Int32: Int64] = [:]

    /// Starts to watch a connection.
    mutating func watch(_ descriptor: Int32) { watched.insert(descriptor) }

    /// Records the end of a call of libcurl for a readable connection; returns whether to end the connection.
    ///
    /// - Parameters:
    ///   - descriptor: The connection.
    /// - calledBack: Whether libcurl has delivered a line or a part of a body.
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

    /// Removes a closed connection.
    mutating func forget(_ descriptor: Int32) {
        watched.remove(descriptor)
        if !bytesRead.isEmpty { bytesRead[descriptor] = nil }
    }
}
