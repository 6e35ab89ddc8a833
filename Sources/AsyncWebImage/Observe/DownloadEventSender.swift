import HTTPTransport
import Threading

/// Tells of one download, in order, whichever thread something happens on.
final class DownloadEventSender: Sendable {
    private struct State {
        /// Nothing follows the end, whatever other threads are about to tell.
        var hasStopped = false
        /// Bytes at the last event of progress.
        var told = 0
    }

    /// Bytes between two events of progress.
    private static let step = 64 << 10

    private let events: DownloadEvents
    private let id: DownloadID
    private let url: HTTPURL
    /// Who listens to this download only.
    private let companion: DownloadEvents.Listener?
    private let state = Locked(State())

    init(_ events: DownloadEvents, id: DownloadID, url: HTTPURL, companion: DownloadEvents.Listener? = nil) {
        self.events = events
        self.id = id
        self.url = url
        self.companion = companion
    }

    func send(_ kind: DownloadEvent.Kind) {
        state.withLock { state in
            guard !state.hasStopped else { return }
            tell(kind)
        }
    }

    /// More of the body is there; the beginning and the end are always told.
    func send(_ progress: DownloadProgress) {
        state.withLock { state in
            let isWhole = progress.received == progress.expected
            guard !state.hasStopped,
                progress.received < state.told || progress.received >= state.told + Self.step || isWhole
            else { return }
            state.told = progress.received
            tell(.progress(progress))
        }
    }

    /// The download is over, for good.
    func stop(_ error: (any Error)?, finished: DownloadEvent.Kind? = nil) {
        state.withLock { state in
            guard !state.hasStopped else { return }
            state.hasStopped = true
            tell(.stopped(error))
            if let finished { tell(finished) }
        }
    }

    private func tell(_ kind: DownloadEvent.Kind) {
        let event = DownloadEvent(id: id, url: url, time: .now, kind: kind)
        companion?(event)
        events.send(event)
    }
}
