import HTTPTransport
import Threading

/// Sends the events of one download in order, from any thread.
final class DownloadEventSender: Sendable {
    private struct State {
        /// A Boolean value that indicates whether the end has been sent; no event follows it.
        var isCompleted = false
        /// The number of bytes at the last progress event.
        var reportedBytes = 0
    }

    /// The number of bytes between two progress events.
    static let step = 64 << 10

    private let events: DownloadEvents
    private let id: DownloadID
    private let url: HTTPURL
    /// A listener for this download only.
    private let additionalListener: DownloadEvents.Listener?
    private let state = Locked(State())

    init(_ events: DownloadEvents, id: DownloadID, url: HTTPURL, additionalListener: DownloadEvents.Listener? = nil) {
        self.events = events
        self.id = id
        self.url = url
        self.additionalListener = additionalListener
    }

    func send(_ kind: DownloadEvent.Kind) {
        state.withLock { state in
            guard !state.isCompleted else { return }
            emit(kind)
        }
    }

    /// Sends progress; the beginning and the end are always sent.
    func send(_ progress: DownloadProgress) {
        state.withLock { state in
            let isComplete = progress.received == progress.expected
            guard !state.isCompleted,
                progress.received < state.reportedBytes || progress.received >= state.reportedBytes + Self.step
                    || isComplete
            else { return }
            state.reportedBytes = progress.received
            emit(.progress(progress))
        }
    }

    /// Sends the last event of the download, unless it has been sent.
    func complete(_ result: Result<DownloadEvent.Summary, any Error>) {
        state.withLock { state in
            guard !state.isCompleted else { return }
            state.isCompleted = true
            emit(.completed(result))
        }
    }

    private func emit(_ kind: DownloadEvent.Kind) {
        let event = DownloadEvent(id: id, url: url, time: .now, kind: kind)
        additionalListener?(event)
        events.send(event)
    }
}
