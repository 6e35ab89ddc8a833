import DequeModule
import HTTPTransport
import Threading
import ResponseCache

/// What a reader is told whose bytes are void: the body begins anew, and so must whoever reads it.
struct BodyRestarted: Error {}

// One body may take several attempts, each of which goes on with it or begins anew.
extension BodyLog {
    /// A body begins, `length` bytes long if the server says so; what came of an earlier attempt is void.
    func begin(expecting length: Int?, head: ResponseHead? = nil, from source: ResponseSource = .network) {
        let waiting = state.withLock { state in
            state.source = source
            state.expected = length
            state.head = head
            if let length { state.firstCapacity = min(length, Self.trustedLength) }
            guard state.received > 0 else { return [CheckedContinuation<Void, Never>]() }
            state.restart()
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The body goes on where an earlier attempt broke off, to `total` bytes if the server says so.
    ///
    /// `stored` is its beginning, if that is not here.
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

    /// The body so far; nil if its beginning is not here any longer.
    var beginning: [[UInt8]]? {
        state.withLock { state in
            guard state.isWhole else { return nil }
            state.seal()
            // An array of an empty deque is written to, though all empty arrays are one: thread sanitizer takes it for a race.
            return state.segments.isEmpty ? [] : Array(state.segments)
        }
    }

    /// How much has come.
    var progress: DownloadProgress {
        state.withLock { DownloadProgress(received: $0.received, expected: $0.expected) }
    }

    /// Lets `stream` see the progress, from what it is now until the body's end.
    func watch(_ id: CallerID, _ stream: AsyncStream<DownloadProgress>.Continuation) {
        state.withLock { state in
            // Under the lock, so that it cannot take the place of a newer one.
            stream.yield(DownloadProgress(received: state.received, expected: state.expected))
            if state.end == nil { state.watchers.insert(stream, of: id) } else { stream.finish() }
        }
    }

    /// Lets go of a stream that its consumer has left.
    func stopWatching(_ id: CallerID, _ stream: AsyncStream<DownloadProgress>.Continuation) {
        state.withLock { $0.watchers.remove(stream, of: id) }
    }

    /// Ends all that ``watch(_:_:)`` began for a caller.
    func stopWatching(_ id: CallerID) {
        for stream in state.withLock({ $0.watchers.remove(id) }) { stream.finish() }
    }
}

extension BodyLog {
    /// Who is to be told of which progress.
    struct Watching {
        let streams: [AsyncStream<DownloadProgress>.Continuation]
        let progress: DownloadProgress

        func tell() {
            for stream in streams { stream.yield(progress) }
        }
    }
}

extension BodyLog.State {
    /// Nil if nobody watches.
    var watching: BodyLog.Watching? {
        guard !watchers.isEmpty else { return nil }
        return BodyLog.Watching(
            streams: watchers.all, progress: DownloadProgress(received: received, expected: expected))
    }

    /// Forgets all bytes.
    mutating func restart() {
        segments = []
        firstSegment = 0
        open = []
        received = 0
        bytesInFlight.remove(held)
        held = 0
        isWhole = true
        for (id, reader) in readers {
            readers[id]?.isOutdated = reader.isOutdated || reader.read > 0
            readers[id]?.next = 0
            readers[id]?.offset = 0
            readers[id]?.read = 0
        }
    }
}
