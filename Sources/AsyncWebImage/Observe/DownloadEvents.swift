import HTTPTransport
import Synchronization
import Threading

/// Distributes the events of all downloads to listeners; costs only a check of a flag if there are none.
final class DownloadEvents: Sendable {
    /// A listener, called on the thread on which the event occurs, which it must not block.
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

    /// Adds a listener for all events from now on.
    func add(_ listener: @escaping Listener) {
        state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            hasListeners.store(true, ordering: .relaxed)
        }
    }

    /// Returns a stream of the events from now on; if the consumer is more than `limit` events behind, the oldest
    /// events are dropped.
    ///
    /// The stream ends when there can be no more events.
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

    /// Ends all current and future streams, because there are no more events.
    func end() {
        state.withLock { $0.hasEnded = true }
        finishStreams()
    }

    private func finishStreams() {
        // Not under the lock, because each stream removes itself.
        for stream in state.withLock({ Array($0.streams.values) }) { stream.finish() }
    }
}

extension DownloadEvents {
    /// Returns a sender of one download's events to all listeners and `additionalListener`; `nil` if there are none, to save
    /// its cost.
    ///
    /// Listeners added later get only the events of later downloads.
    func sender(for id: DownloadID, _ url: HTTPURL, also additionalListener: Listener? = nil) -> DownloadEventSender? {
        isObserved || additionalListener != nil
            ? DownloadEventSender(self, id: id, url: url, additionalListener: additionalListener) : nil
    }
}
