import Threading

/// The assignment of transfers to threads, as one of the threads changes it; without effect if there is one thread only.
///
/// Used for the start, the response head, and the end of a transfer, not for parts of its body.
struct ThreadAssignment {
    private let shared: Locked<TransferAssignment>?
    private let thread: Int

    init(_ shared: Locked<TransferAssignment>? = nil, thread: Int = 0) {
        self.shared = shared
        self.thread = thread
    }

    /// Records that a transfer continues with requests of `key`.
    func begin(_ key: ConnectionKey) { shared?.withLock { $0.begin(key, on: thread) } }

    /// Records the end of a transfer's requests of `key`, and whether the connection can be used again.
    func end(_ key: ConnectionKey, keepsConnection: Bool) {
        shared?.withLock { $0.end(key, on: thread, keepsConnection: keepsConnection) }
    }

    /// Records whether transfers with `key` share a connection.
    func learn(_ key: ConnectionKey, isMultiplexed: Bool) {
        shared?.withLock { $0.learn(key, isMultiplexed: isMultiplexed, on: thread) }
    }
}
