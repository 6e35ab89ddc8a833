import SocketPolling

/// Tracks the connections that libcurl opens and closes.
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

    /// Records a call of libcurl for the readable `descriptor` and whether it called back; ends a connection that
    /// keeps producing no data.
    func wasRead(_ descriptor: Int32, calledBack: Bool) {
        let isFlood = silentReads.note(descriptor, calledBack: calledBack) { floodGuard.bytesRead(from: descriptor) }
        if isFlood { floodGuard.endConnection(descriptor) }
    }
}
