import SocketPolling

/// What is told of every connection that libcurl opens and closes.
///
/// Confined to the transport's thread.
final class CurlConnections {
    private let poller: EventPoller
    let floodGuard: FloodGuard

    init(poller: EventPoller, floodGuard: FloodGuard) {
        self.poller = poller
        self.floodGuard = floodGuard
    }

    /// `descriptor` is a connection from now on; ``closed(_:)`` follows.
    func opened(_ descriptor: Int32) {
        poller.connectionOpened(descriptor)
        floodGuard.connectionOpened(descriptor)
    }

    /// `descriptor` is about to be closed.
    func closed(_ descriptor: Int32) {
        poller.connectionClosed(descriptor)
        floodGuard.connectionClosed(descriptor)
    }
}
