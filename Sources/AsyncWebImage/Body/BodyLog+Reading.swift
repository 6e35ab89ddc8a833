import HTTPTransport
import ResponseCache
import Threading

// The interface for readers.
extension BodyLog {
    var received: Int { state.withLock { $0.buffer.received } }

    /// The source of the bytes.
    var source: ResponseSource { state.withLock { $0.source } }

    /// The head of the response; `nil` until one is accepted.
    var head: ResponseHead? { state.withLock { $0.head } }

    /// The end of the transfer; `nil` while it is active.
    var end: End? { state.withLock { $0.end } }

    /// The response that the body belongs to, as far as it has been received; `nil` before its head is accepted.
    var origin: ResponseOrigin? {
        state.withLock { state in
            guard let head = state.head else { return nil }
            let metrics: TransferMetrics? = if case .success(let end)? = state.end { end.metrics } else { nil }
            return ResponseOrigin(
                head: head, source: state.source, byteCount: state.buffer.received, metrics: metrics)
        }
    }

    /// The number of bytes held.
    var held: Int { state.withLock { $0.buffer.held } }

    /// The pieces received so far, and the position after them; `nil` if the beginning has been discarded.
    var beginning: (pieces: [[UInt8]], end: BodyPosition)? { state.withLock { $0.buffer.beginning() } }

    /// A Boolean value that indicates whether so few bytes have been received that the beginning will be kept for a while.
    var isShort: Bool { state.withLock { $0.buffer.isShort } }

    /// The position after the last byte received.
    var lastPosition: BodyPosition { state.withLock { $0.buffer.lastPosition } }

    /// A Boolean value that indicates whether all callers need only the properties of the file; `nil` without callers.
    var needsOnlyBeginning: Bool? {
        state.withLock { state in
            let consumption = state.buffer.consumption
            if consumption.isCollected { return false }
            return consumption.hasReaders ? consumption.limitsReadAhead : nil
        }
    }

    /// Returns a reader that starts with the first byte; `nil` if that has been discarded.
    ///
    /// While all readers limit read-ahead, the transfer is never far ahead of them. The reader adds the bytes that it
    /// reads to `digest`, if there is one.
    func makeReader(limitsReadAhead: Bool = false, digest: SharedDigest? = nil) -> BodyReader? {
        let id = resuming { state in
            // A complete body grows no more, and its reader can wait for memory that growing bodies hold.
            if state.end != nil { state.memory.leaveQueue() }
            return state.buffer.addReader(limitsReadAhead: limitsReadAhead)
        }
        return id.map { BodyReader(log: self, id: $0, digest: digest) }
    }

    /// Returns the digest of this body that all readers share.
    func digest(_ algorithm: BodyDigest.Algorithm) -> SharedDigest { state.withLock { $0.digests[algorithm] } }

    /// Returns the position after the last bytes that a reader has read; `nil` if they are void by now.
    func position(of id: BodyBuffer.ReaderID) -> BodyPosition? { state.withLock { $0.buffer.position(of: id) } }

    /// Returns the next pieces for a reader, at most `limit`; empty if there are none yet, `nil` at the end.
    ///
    /// Throws the error that ended the download, and `BodyRestarted` if the reader must start over.
    func read(_ id: BodyBuffer.ReaderID, limit: Int = .max) throws -> [[UInt8]]? {
        try resuming { state in
            guard let pieces = try state.buffer.read(id, limit: limit) else { return nil }
            guard pieces.isEmpty, let end = state.end else { return pieces }
            _ = try end.get()
            return nil
        }
    }

    /// Returns whether a reader has read everything and the body has ended.
    func isAtEnd(_ id: BodyBuffer.ReaderID) -> Bool {
        state.withLock { $0.end != nil && $0.buffer.hasReadAll(id) }
    }

    /// Returns when there might be something to read, or ``wake(_:)`` is called.
    func wait(_ id: BodyBuffer.ReaderID, for goal: ReaderWaits.Goal) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.waits.takePoke(of: id) || state.isReady(id, for: goal) { return true }
                state.waits.insert(id, goal, continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Returns whether a reader that waits for the whole body need not wait any longer.
    func hasBody(for id: BodyBuffer.ReaderID) -> Bool { state.withLock { $0.isReady(id, for: .body) } }

    /// Lets a reader start with the first byte again, and suspends it; returns `false` if there is a batch to read, the
    /// body has ended, or its beginning has been discarded.
    ///
    /// In the last case, a body that waits for its next attempt starts over: others may need what its decode holds
    /// before that attempt can begin.
    func rewind(_ id: BodyBuffer.ReaderID, onlyBetweenAttempts: Bool) -> Bool {
        waking { state in
            guard state.end == nil, state.isBetweenAttempts || !onlyBetweenAttempts else { return false }
            if state.buffer.rewind(id) { return true }
            if state.isBetweenAttempts, !state.buffer.hasBeginning, state.buffer.hasReadAll(id) {
                state.buffer.restart()
            }
            return false
        }
    }

    @inline(never)  // As BodyReader.read(_:).
    func wake(_ id: BodyBuffer.ReaderID) {
        let waiting = state.withLock { $0.waits.wake(id) }
        waiting?.resume()
    }

    func suspendReading(_ id: BodyBuffer.ReaderID) {
        resuming { $0.buffer.park(id) }
    }

    func setKeepsBytes(_ keepsBytes: Bool, _ id: BodyBuffer.ReaderID) {
        resuming { $0.buffer.setKeepsBytes(keepsBytes, id) }
    }

    func remove(_ id: BodyBuffer.ReaderID) {
        resuming { state in
            state.waits.remove(id)
            state.buffer.remove(id)
        }
    }
}
