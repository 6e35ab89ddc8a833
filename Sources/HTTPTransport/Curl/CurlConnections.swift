import SocketPolling

/// What is told of every connection that libcurl opens and closes.
///
/// Confined to the transport's thread.
final class CurlConnections {
    private let poller: EventPoller
    let floodGuard: FloodGuard
    private var silentReads = SilentReads()

    init(poller: EventPoller, floodGuard: FloodGuard) {
        self.poller = poller
        self.floodGuard = floodGuard
    }

    /// `descriptor` is a connection from now on, without TLS if it `isPlain`; ``closed(_:)`` follows.
    func opened(_ descriptor: Int32, isPlain: Bool) {
        if isPlain { silentReads.watch(descriptor) }
        poller.connectionOpened(descriptor)
        floodGuard.connectionOpened(descriptor)
    }

    /// `descriptor` is about to be closed.
    func closed(_ descriptor: Int32) {
        poller.connectionClosed(descriptor)
        floodGuard.connectionClosed(descriptor)
        silentReads.forget(descriptor)
    }

    /// libcurl was called for `descriptor`, which was readable, and `calledBack` or not; ends a connection that goes on
    /// like that.
    func wasRead(_ descriptor: Int32, calledBack: Bool) {
        let isFlood = silentReads.note(descriptor, calledBack: calledBack) { floodGuard.bytesRead(from: descriptor) }
        if isFlood { floodGuard.endConnection(descriptor) }
    }
}
