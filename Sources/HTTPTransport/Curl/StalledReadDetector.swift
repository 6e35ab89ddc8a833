/// The content of a response that libcurl delivers in one call.
enum CallContent: Comparable {
    case nothing, headerLines, body
}

/// Finds connections of plain HTTP that deliver bytes without any response data, for example endless chunk
/// extensions.
///
/// libcurl skips bytes that belong to no header line and no body without calling back, so that only the idle deadline
/// would apply. TLS is handled by ``FloodGuard``.
struct StalledReadDetector {
    /// The maximum number of bytes that can arrive without a header line or a part of a body.
    ///
    /// More than a header line can have (``ResponseHeadParser/limit``), and more than libcurl reads at a time.
    static let limit: Int64 = 256 << 10

    private var watched: Set<Int32> = []
    /// The number of bytes read from a connection when counting started.
    ///
    /// Zero for a new connection, so that the call that delivers its first header counts as well.
    private var bytesRead: [Int32: Int64] = [:]

    /// Starts to watch a new connection.
    mutating func watch(_ descriptor: Int32) {
        watched.insert(descriptor)
        bytesRead[descriptor] = 0
    }

    /// Records the end of a call of libcurl for a readable connection; returns whether to end the connection.
    ///
    /// - Parameters:
    ///   - descriptor: The connection.
    ///   - content: The content that libcurl has delivered.
    ///   - count: Returns the number of bytes read from the connection so far; negative if that is unknown.
    mutating func note(_ descriptor: Int32, _ content: CallContent, count: () -> Int64) -> Bool {
        switch content {
        case .body:
            if !bytesRead.isEmpty { bytesRead[descriptor] = nil }
            return false
        case .headerLines:
            guard let before = bytesRead[descriptor] else { return false }
            let now = count()
            bytesRead[descriptor] = now
            return before >= 0 && now - before > Self.limit
        case .nothing:
            guard watched.contains(descriptor) else { return false }
            let now = count()
            guard let before = bytesRead[descriptor] else {
                bytesRead[descriptor] = now
                return false
            }
            return before >= 0 && now - before > Self.limit
        }
    }

    /// Records that libcurl has delivered `content` of a connection outside a call for that connection: because of a
    /// timer, or at the end of a pause.
    mutating func delivered(_ content: CallContent, from descriptor: Int32, count: () -> Int64) {
        guard bytesRead[descriptor] != nil else { return }
        bytesRead[descriptor] = content == .body ? nil : count()
    }

    /// Removes a closed connection.
    mutating func forget(_ descriptor: Int32) {
        watched.remove(descriptor)
        if !bytesRead.isEmpty { bytesRead[descriptor] = nil }
    }
}
