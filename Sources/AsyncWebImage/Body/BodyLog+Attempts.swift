import DequeModule
import HTTPTransport
import Threading
import ResponseCache

/// The error for a reader whose bytes have been discarded: the body starts over, and so must the reader.
struct BodyRestarted: Error {}

// A body can take several attempts, each of which continues it or starts over.
extension BodyLog {
    /// Starts a body, `length` bytes long if declared; the data of earlier attempts is discarded.
    func begin(expecting length: Int?, head: ResponseHead? = nil, from source: ResponseSource = .network) {
        let waiting = state.withLock { state in
            state.source = source
            state.expected = length
            state.head = head
            state.firstCapacity = length.map { min($0, Self.trustedLength) } ?? Self.segmentSize
            guard state.received > 0 else { return [CheckedContinuation<Void, Never>]() }
            state.restart()
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Continues the body where an earlier attempt was interrupted, up to `total` bytes if declared.
    ///
    /// `stored` is its beginning, if the log does not contain it.
    func proceed(
        with stored: [[UInt8]]?, to total: Int?, head: ResponseHead? = nil, from source: ResponseSource = .network
    ) {
        let waiting = state.withLock { state in
            state.source = source
            state.expected = total
            state.head = head
            guard let stored else { return [CheckedContinuation<Void, Never>]() }
            if state.received > 0 { state.restart() }
            state.segments = Deque(stored)
            state.received = stored.reduce(0) { $0 + $1.count }
            state.held = state.received
            state.bytesInFlight.add(state.held)
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The pieces received so far, and the position after them; `nil` if the beginning has been discarded.
    var beginning: (pieces: [[UInt8]], end: BodyPosition)? {
        state.withLock { state in
            guard state.isComplete else { return nil }
            state.seal()
            // Writing to the array of an empty deque: the thread sanitizer reports a false race because all empty
            // arrays are one.
            let pieces = state.segments.isEmpty ? [] : Array(state.segments)
            return (pieces, BodyPosition(restarts: state.restarts, count: state.received))
        }
    }

    /// The progress of the body.
    var progress: DownloadProgress {
        state.withLock { DownloadProgress(received: $0.received, expected: $0.expected) }
    }

    /// Sends the progress to `stream`, from now until the body's end.
    func watch(_ id: CallerID, _ stream: AsyncStream<DownloadProgress>.Continuation) {
        state.withLock { state in
            // Under the lock, so that it cannot replace a newer state.
            stream.yield(DownloadProgress(received: state.received, expected: state.expected))
            if state.end == nil { state.watchers.insert(stream, of: id) } else { stream.finish() }
        }
    }

    /// Removes a stream whose consumer has left.
    func stopWatching(_ id: CallerID, _ stream: AsyncStream<DownloadProgress>.Continuation) {
        state.withLock { $0.watchers.remove(stream, of: id) }
    }

    /// Ends all streams that ``watch(_:_:)`` added for a caller.
    func stopWatching(_ id: CallerID) {
        for stream in state.withLock({ $0.watchers.remove(id) }) { stream.finish() }
    }
}

extension BodyLog {
    /// The streams to notify and the progress.
    struct Watching {
        let streams: [AsyncStream<DownloadProgress>.Continuation]
        let progress: DownloadProgress

        func notify() {
            for stream in streams { stream.yield(progress) }
        }
    }
}

extension BodyLog.State {
    /// The pending notification; `nil` if there are no streams.
    var watching: BodyLog.Watching? {
        guard !watchers.isEmpty else { return nil }
        return BodyLog.Watching(
            streams: watchers.all, progress: DownloadProgress(received: received, expected: expected))
    }

    /// Discards all bytes.
    mutating func restart() {
        segments = []
        firstSegment = 0
        open = []
        received = 0
        restarts += 1
        bytesInFlight.remove(held)
        held = 0
        isComplete = true
        for (id, reader) in readers {
            readers[id]?.isOutdated = reader.isOutdated || reader.read > 0
            readers[id]?.next = 0
            readers[id]?.offset = 0
            readers[id]?.read = 0
        }
    }
}
