import SocketPolling

/// Tracks the connections that libcurl opens and closes.
///
/// Used only on the transport's thread.
final class CurlConnections {
    private let poller: EventPoller
    let floodGuard: FloodGuard
    private var silentReads = StalledReadDetector()
    /// The content that the current call of libcurl has delivered so far.
    private var content = CallContent.nothing

    init(poller: EventPoller, floodGuard: FloodGuard) {
        self.poller = poller
        self.floodGuard = floodGuard
    }

    /// Records that `descriptor` is an open connection, without TLS if `isPlain`; ``closed(_:)`` follows.
    func opened(_ descriptor: Int32, isPlain: Bool) {
        if isPlain { silentReads.watch(descriptor) }
        poller.connectionOpened(descriptor)
        floodGuard.connectionOpened(descriptor)
    }

    /// Records that `descriptor` is about to be closed.
    func closed(_ descriptor: Int32) {
        poller.connectionClosed(descriptor)
        floodGuard.connectionClosed(descriptor)
        silentReads.forget(descriptor)
    }

    /// Prepares for a call of libcurl for a connection.
    func beginCall() { content = .nothing }

    /// Records that libcurl has delivered `content` by a callback.
    func delivered(_ content: CallContent) {
        floodGuard.calledBack()
        self.content = max(self.content, content)
    }

    /// Records the end of a call of libcurl for the readable `descriptor`; ends a connection that keeps delivering bytes
    /// of no response.
    func wasRead(_ descriptor: Int32) {
        let isFlood = silentReads.note(descriptor, content) { floodGuard.bytesRead(from: descriptor) }
        if isFlood { floodGuard.endConnection(descriptor) }
    }
}
