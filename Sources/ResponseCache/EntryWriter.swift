import Threading

/// Stores a response while it is delivered.
///
/// Bytes come from the task that pulls the body and are written by the cache's thread. If the disk is so much slower that
/// ``queueLimit`` bytes wait, the response is not stored: a download never waits for it. What it was to take the place of is
/// not kept then: the origin has something newer.
package final class EntryWriter: Sendable {
    static let queueLimit = 4 << 20

    private struct State {
        var waiting: [[UInt8]] = []
        var waitingBytes = 0
        var received = 0
        var isScheduled = false
        var isAbandoned = false
    }

    private let head: StoredHead
    private let key: CacheKey
    private let cache: ResponseCache
    private let state: Locked<State>
    /// The draft, used only on the cache's thread.
    private let draft: Locked<EntryDraft>

    /// Creates a writer of a response with this head, whose beginning can be stored already.
    ///
    /// `length` is the required length of the whole body, if known.
    package init(
        _ head: StoredHead, _ key: CacheKey, cache: ResponseCache, length: Int? = nil,
        continuing part: StoredResponse? = nil
    ) {
        self.head = head
        self.key = key
        self.cache = cache
        state = Locked(State(received: part?.body.length ?? 0))
        draft = Locked(EntryDraft(head, key, cache: cache, length: length))
        guard let part else { return }
        // Before anything is written.
        cache.thread.append { self.draft.withLock { $0.takeOver(part) } }
    }

    /// Bytes that wait for the disk.
    var waitingBytes: Int { state.withLock { $0.waitingBytes } }

    // MARK: The task

    /// Takes the next bytes of the body, which are not copied.
    package func append(_ piece: [UInt8]) {
        let (schedules, givesUp) = state.withLock { state in
            guard !state.isAbandoned else { return (false, false) }
            state.received += piece.count
            state.waitingBytes += piece.count
            if state.received > cache.configuration.maximumEntryBytes || state.waitingBytes > Self.queueLimit {
                (state.isAbandoned, state.waiting, state.waitingBytes) = (true, [], 0)
                return (false, true)
            }
            state.waiting.append(piece)
            defer { state.isScheduled = true }
            return (!state.isScheduled, false)
        }
        if schedules { onThread { _ in } }
        if givesUp { onThread { $0.giveUp() } }
    }

    /// Completes the body.
    package func commit() { onThread { $0.finish() } }

    /// Ends an incomplete body: its beginning is stored if it can be continued.
    func keep() { onThread { $0.keep() } }

    // MARK: The cache's thread

    /// Writes pending data, then performs `work`.
    private func onThread(_ work: @escaping @Sendable (inout EntryDraft) -> Void) {
        cache.thread.append {
            let pieces = self.state.withLock { state in
                defer { (state.waiting, state.waitingBytes, state.isScheduled) = ([], 0, false) }
                return state.waiting
            }
            self.draft.withLock { draft in
                let wasGivenUp = draft.isAbandoned
                for piece in pieces { draft.write(piece) }
                work(&draft)
                if draft.isAbandoned, !wasGivenUp { self.cache.removeReplaced(by: self.head, self.key) }
            }
        }
    }
}
