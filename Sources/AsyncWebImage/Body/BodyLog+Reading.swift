import HTTPTransport
import Threading
import ResponseCache

/// The interface for decoders and for callers that wait for the whole body.
extension BodyLog {
    var received: Int { state.withLock { $0.received } }

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
            return ResponseOrigin(head: head, source: state.source, byteCount: state.received, metrics: metrics)
        }
    }

    /// The number of bytes held.
    var held: Int { state.withLock { $0.held } }

    /// Keeps the whole body and passes it to `answer` at the end; returns `false` if its beginning has been
    /// discarded.
    func collect(for answer: OneShot<ImageData>, isJoined: Bool) -> Bool {
        let (isComplete, isOver, resumed) = state.withLock { state -> (Bool, Bool, (any Transfer)?) in
            guard state.isComplete else { return (false, false, nil) }
            state.bodyWaiters.insert(BodyWaiters.BodyWaiter(answer: answer, isJoined: isJoined))
            return (true, state.end != nil, state.resumed())
        }
        resumed?.resume()
        if isOver { resumeBodyWaiters() }
        return isComplete
    }

    /// Reverts ``collect(for:isJoined:)``.
    func removeBodyWaiter(for answer: OneShot<ImageData>) {
        state.withLock { $0.bodyWaiters.remove(answer) }
    }

    /// Returns a reader that starts with the first byte; `nil` if that has been discarded.
    ///
    /// While all readers limit read-ahead, the transfer is never far ahead of them. The reader adds the bytes that it
    /// reads to `digest`, if there is one.
    func makeReader(limitsReadAhead: Bool = false, digest: SharedDigest? = nil) -> BodyReader? {
        let (reader, resumed) = state.withLock { state -> (BodyReader?, (any Transfer)?) in
            guard state.isComplete else { return (nil, nil) }
            let id = state.nextReader
            state.nextReader += 1
            state.readers[id] = Reader(limitsReadAhead: limitsReadAhead)
            // A complete body grows no more, and its reader can wait for memory that growing bodies hold.
            if state.end != nil { state.leaveGrowthQueue() }
            return (BodyReader(log: self, id: id, digest: digest), state.resumed())
        }
        resumed?.resume()
        return reader
    }

    /// Returns the digest of this body that all readers share.
    func digest(_ algorithm: BodyDigest.Algorithm) -> SharedDigest {
        state.withLock { state in
            if let digest = state.digests[algorithm] { return digest }
            let digest = SharedDigest(algorithm)
            state.digests[algorithm] = digest
            return digest
        }
    }

    /// The position after the last byte received.
    var lastPosition: BodyPosition { state.withLock { BodyPosition(restarts: $0.restarts, count: $0.received) } }

    /// Returns the position after the last bytes that a reader has read; `nil` if they are void by now.
    func position(of id: UInt64) -> BodyPosition? {
        state.withLock { state in
            guard let reader = state.readers[id], !reader.isOutdated else { return nil }
            return BodyPosition(restarts: state.restarts, count: reader.read)
        }
    }

    /// Returns the next pieces for a reader, at most `limit`; empty if there are none yet, `nil` at the end.
    ///
    /// Throws the error that ended the download, and `BodyRestarted` if the reader must start over.
    func read(_ id: UInt64, limit: Int = .max) throws -> [[UInt8]]? {
        let (pieces, resumed) = try state.withLock { state throws -> ([[UInt8]]?, (any Transfer)?) in
            if state.open.count >= Self.sealedSize { state.seal() }
            guard var reader = state.readers[id] else { return (nil, nil) }
            guard !reader.isOutdated else {
                state.readers[id]?.isOutdated = false
                throw BodyRestarted()
            }
            let pieces = state.pieces(for: &reader, limit: limit)
            if pieces.isEmpty, let end = state.end {
                _ = try end.get()
                return (nil, nil)
            }
            reader.isParked = false
            state.readers[id] = reader
            state.dropRead()
            return (pieces, state.resumed())
        }
        resumed?.resume()
        return pieces
    }

    /// Returns whether a reader has read everything and the body has ended.
    func isAtEnd(_ id: UInt64) -> Bool {
        state.withLock { state in
            guard state.end != nil, let reader = state.readers[id] else { return false }
            return reader.read == state.received
        }
    }

    /// Returns when there might be something to read, or ``wake(_:)`` is called.
    func wait(_ id: UInt64, for goal: WaitGoal) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                state.readers[id]?.goal = goal
                guard let reader = state.readers[id], !reader.isPoked, !state.isReady(reader) else {
                    state.readers[id]?.isPoked = false
                    return true
                }
                state.waits[id] = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Returns whether a reader that waits for the whole body need not wait any longer.
    func hasBody(for id: UInt64) -> Bool {
        state.withLock { state in
            guard var reader = state.readers[id] else { return true }
            reader.goal = .body
            return state.isReady(reader)
        }
    }

    /// Lets a reader start with the first byte again, and suspends it; returns `false` if there is a batch to read, the
    /// body has ended, or its beginning has been discarded.
    func rewind(_ id: UInt64) -> Bool {
        state.withLock { state in
            guard var reader = state.readers[id], state.isComplete, state.end == nil, !reader.isOutdated else {
                return false
            }
            reader.goal = .batch
            guard !state.hasEnough(for: reader) else { return false }
            (reader.next, reader.offset, reader.read) = (0, 0, 0)
            reader.isParked = true
            state.readers[id] = reader
            return true
        }
    }

    @inline(never)  // As BodyReader.read(_:).
    func wake(_ id: UInt64) {
        let waiting = state.withLock { state in
            let waiting = state.waits.removeValue(forKey: id)
            if waiting == nil { state.readers[id]?.isPoked = true }
            return waiting
        }
        waiting?.resume()
    }

    func suspendReading(_ id: UInt64) {
        let resumed = state.withLock { state in
            state.readers[id]?.isParked = true
            return state.resumed()
        }
        resumed?.resume()
    }

    func remove(_ id: UInt64) {
        let resumed = state.withLock { state -> (any Transfer)? in
            state.readers[id] = nil
            state.dropRead()
            return state.resumed()
        }
        resumed?.resume()
    }
}

extension BodyLog.State {
    /// Returns the pieces that `reader` has not read, at most `limit`, and advances it past them.
    fileprivate func pieces(for reader: inout BodyLog.Reader, limit: Int) -> [[UInt8]] {
        var pieces = Array(segments[(reader.next - firstSegment)...].prefix(limit))
        let offset = reader.offset
        if let first = pieces.first, offset > 0 { pieces[0] = Array(first[offset...]) }
        reader.next += pieces.count
        if !pieces.isEmpty { reader.offset = 0 }
        // The open piece, if that is next: it is small and continues to grow.
        if pieces.count < limit, reader.offset < open.count {
            // Not the array of a slice, which would share the storage of a whole piece with all its capacity.
            pieces.append([UInt8](exactCopyOf: open[reader.offset...]))
            reader.offset = open.count
        }
        reader.read += pieces.reduce(0) { $0 + $1.count }
        return pieces
    }
}
