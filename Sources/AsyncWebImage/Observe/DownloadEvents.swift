import HTTPTransport
import Synchronization
import Threading

/// Hands the events of all downloads to those who listen; costs one look at a flag while nobody does.
final class DownloadEvents: Sendable {
    /// Told on the thread on which something happens, which must not be kept waiting.
    typealias Listener = @Sendable (DownloadEvent) -> Void

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var streams: [UInt64: AsyncStream<DownloadEvent>.Continuation] = [:]
        var last: UInt64 = 0
        var hasEnded = false
    }

    private let state = Locked(State())
    private let hasListeners = Atomic(false)

    deinit { finishStreams() }

    var isObserved: Bool { hasListeners.load(ordering: .relaxed) }

    /// Tells `listener` of everything from now on.
    func add(_ listener: @escaping Listener) {
        state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            hasListeners.store(true, ordering: .relaxed)
        }
    }

    /// The events from now on; of a consumer who is more than `limit` behind, the oldest are dropped.
    ///
    /// Ends when there can be no others.
    func stream(limit: Int) -> AsyncStream<DownloadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadEvent.self, bufferingPolicy: .bufferingNewest(limit))
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        let hasEnded = state.withLock { state in
            guard !state.hasEnded else { return true }
            state.streams[id] = continuation
            hasListeners.store(true, ordering: .relaxed)
            return false
        }
        if hasEnded { continuation.finish() }
        return stream
    }

    private func remove(_ id: UInt64) {
        state.withLock { state in
            state.streams[id] = nil
            hasListeners.store(!state.listeners.isEmpty || !state.streams.isEmpty, ordering: .relaxed)
        }
    }

    func send(_ event: DownloadEvent) {
        let (listeners, streams) = state.withLock { (Array($0.listeners.values), Array($0.streams.values)) }
        for listener in listeners { listener(event) }
        for stream in streams { stream.yield(event) }
    }

    /// Nothing happens any more: all streams end, also those that are yet to be asked for.
    func end() {
        state.withLock { $0.hasEnded = true }
        finishStreams()
    }

    private func finishStreams() {
        // Not under the lock: each takes itself out.
        for stream in state.withLock({ Array($0.streams.values) }) { stream.finish() }
    }
}

extension DownloadEvents {
    /// What tells of one download, all who listen and `companion`; nil while there are neither, so that it costs nothing.
    ///
    /// Who begins to listen later hears of later downloads.
    func sender(for id: DownloadID, _ url: HTTPURL, also companion: Listener? = nil) -> DownloadEventSender? {
        isObserved || companion != nil ? DownloadEventSender(self, id: id, url: url, companion: companion) : nil
    }
}
