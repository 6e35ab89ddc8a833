import HTTPTransport
import Synchronization
import Threading

/// Hands the events of all downloads to those who listen; costs one look at a flag while nobody does.
final class DownloadEvents: Sendable {
    /// Told on the thread on which something happens, which must not be kept waiting.
    typealias Listener = @Sendable (DownloadEvent) -> Void

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var last: UInt64 = 0
    }

    private let state = Locked(State())
    private let hasListeners = Atomic(false)

    var isObserved: Bool { hasListeners.load(ordering: .relaxed) }

    /// Tells `listener` of everything from now on, until it is removed.
    func add(_ listener: @escaping Listener) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.listeners[state.last] = listener
            hasListeners.store(true, ordering: .relaxed)
            return state.last
        }
    }

    func remove(_ id: UInt64) {
        state.withLock { state in
            state.listeners[id] = nil
            hasListeners.store(!state.listeners.isEmpty, ordering: .relaxed)
        }
    }

    /// The events from now on; of a consumer who is more than `limit` behind, the oldest are dropped.
    func stream(limit: Int) -> AsyncStream<DownloadEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadEvent.self, bufferingPolicy: .bufferingNewest(limit))
        let id = add { continuation.yield($0) }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    func send(_ event: DownloadEvent) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener(event) }
    }
}

extension DownloadEvents {
    /// What tells of one download, all who listen and `companion`; nil while there are neither, so that it costs nothing.
    ///
    /// Who begins to listen later hears of later downloads.
    func sender(for id: Download.ID, _ url: HTTPURL, also companion: Listener? = nil) -> DownloadEventSender? {
        isObserved || companion != nil ? DownloadEventSender(self, id: id, url: url, companion: companion) : nil
    }
}
