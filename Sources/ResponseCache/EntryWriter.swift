import Threading

/// Stores a response while it is delivered.
///
/// Bytes come from the task that pulls the body, or from the transport, and are written by the cache's threads. If
/// ``queueLimit`` bytes wait for the disk, the transfer has to wait as well. The response is stored when ``commit()``
/// returns. If it cannot be stored, the response that it would have replaced is removed, because it is outdated.
package final class EntryWriter: Sendable {
    /// The number of bytes that may wait for the disk.
    package static let queueLimit = 1 << 20
    /// The number of bytes that are collected before they are written, unless the body ends.
    private static let batch = 64 << 10

    /// The way in which the body ended.
    private enum End {
        case commit
        case keep
        case drop
    }

    private struct State {
        var waiting: [[UInt8]] = []
        var waitingBytes = 0
        var received = 0
        var end: End?
        /// Called when the end has been handled.
        var whenEnded: (@Sendable () -> Void)?
        /// Called when fewer bytes wait for the disk.
        var whenRoom: (@Sendable () -> Void)?
        var isScheduled = false
        var isAbandoned = false
        /// A Boolean value that indicates whether the draft does not know yet that it has been abandoned.
        var givesUp = false

        /// Releases pending data, except for data that is being written.
        mutating func abandon() {
            waitingBytes -= waiting.reduce(0) { $0 + $1.count }
            (waiting, isAbandoned, givesUp) = ([], true, true)
        }
    }

    private let head: StoredHead
    private let resource: CachedResource
    private let cache: ResponseCache
    /// The stored beginning, until it has been copied.
    private let part: Locked<StoredResponse?>
    private let state: Locked<State>
    private let length: Int?
    /// The draft, used by one job at a time; `nil` until the first one.
    private let draft = Locked<EntryDraft?>(nil)

    /// Creates a writer of a response with this head, whose beginning can be stored already.
    ///
    /// `length` is the required length of the whole body, if known.
    package init(
        _ head: StoredHead, _ resource: CachedResource, cache: ResponseCache, length: Int? = nil,
        continuing part: StoredResponse? = nil
    ) {
        self.head = head
        self.resource = resource
        self.cache = cache
        self.part = Locked(part)
        state = Locked(State(received: part?.body.length ?? 0, isScheduled: part != nil))
        self.length = length
        // At once, as long as it exists.
        if part != nil { schedule() }
    }

    /// The number of bytes that wait for the disk.
    var waitingBytes: Int { state.withLock { $0.waitingBytes } }

    // MARK: The source

    /// Takes the next bytes of the body, which are not copied; returns when there is room for more.
    package func append(_ piece: [UInt8]) async {
        add(piece)
        guard waitingBytes >= Self.queueLimit else { return }
        await withCheckedContinuation { continuation in
            if hasRoom(otherwise: { continuation.resume() }) { continuation.resume() }
        }
    }

    /// Takes the next bytes in the same way, without waiting for room.
    package func add(_ piece: [UInt8]) {
        let schedules = state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.received += piece.count
            if state.received > cache.configuration.maximumEntryBytes {
                state.abandon()
            } else {
                state.waiting.append(piece)
                state.waitingBytes += piece.count
                guard state.waitingBytes >= Self.batch else { return false }
            }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules { schedule() }
    }

    /// Returns whether there is room for more bytes; otherwise, `call` is called when there is, on a thread of the cache.
    package func hasRoom(otherwise call: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.waitingBytes >= Self.queueLimit else { return true }
            state.whenRoom = call
            return false
        }
    }

    /// Completes the body; returns when it is stored.
    package func commit() async {
        await withCheckedContinuation { continuation in commit { continuation.resume() } }
    }

    /// Completes the body; calls `then` when it is stored, on a thread of the cache.
    package func commit(then: @escaping @Sendable () -> Void) { end(.commit, then) }

    /// Ends an incomplete body: its beginning is stored if it can be continued.
    ///
    /// Returns when it is stored.
    func keep() async {
        await withCheckedContinuation { continuation in keep { continuation.resume() } }
    }

    /// Ends an incomplete body in the same way; calls `then` when it is stored, on a thread of the cache.
    package func keep(then: @escaping @Sendable () -> Void) { end(.keep, then) }

    /// Ends an incomplete body in the same way, without waiting.
    package func release() { end(.keep) }

    /// Ends an incomplete body of which nothing is kept, without waiting.
    package func drop() {
        let hasWritten = state.withLock { state in
            state.waitingBytes -= state.waiting.reduce(0) { $0 + $1.count }
            state.waiting = []
            return state.isScheduled || state.received >= Self.batch
        }
        if hasWritten { end(.drop) }
    }

    private func end(_ end: End, _ then: (@Sendable () -> Void)? = nil) {
        let schedules = state.withLock { state in
            (state.end, state.whenEnded) = (end, then)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if schedules { schedule() }
    }

    // MARK: The cache's threads

    private func schedule() {
        let isShort = state.withLock { $0.waitingBytes < Self.batch }
        cache.thread.append(to: isShort ? .short : .long) { self.write() }
    }

    /// Writes pending data, and ends the body if there is no more.
    private func write() {
        let (pieces, end, whenEnded, givesUp) = state.withLock { state in
            defer { (state.waiting, state.end, state.whenEnded, state.givesUp) = ([], nil, nil, false) }
            return (state.waiting, state.end, state.whenEnded, state.givesUp)
        }
        draft.withLock { known in
            var draft = known.take() ?? EntryDraft(head, resource, cache: cache, length: length)
            defer { known = draft }
            if let part = part.withLock({ $0.take() }) { draft.continue(part) }
            let wasGivenUp = draft.isAbandoned
            for piece in pieces { draft.write(piece) }
            if givesUp { draft.giveUp() }
            switch end {
            case .commit?: draft.finish()
            case .keep?: draft.keep()
            case .drop?: draft.discard()
            case nil: draft.checkpoint()
            }
            if draft.isAbandoned, !wasGivenUp { cache.removeReplaced(by: head, resource) }
        }
        let (whenRoom, goesOn) = state.withLock { state in
            state.waitingBytes -= pieces.reduce(0) { $0 + $1.count }
            state.isScheduled = state.waitingBytes >= Self.batch || state.end != nil || state.givesUp
            defer { state.whenRoom = nil }
            return (state.whenRoom, state.isScheduled)
        }
        whenRoom?()
        whenEnded?()
        if goesOn { schedule() }
    }
}
