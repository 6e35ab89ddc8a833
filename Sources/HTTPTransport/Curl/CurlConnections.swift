import SocketPolling

/// Tracks the connections that libcurl opens and closes.
///
/// Used only on the worker's thread.
final class CurlConnections {
    private let poller: EventPoller
    let floodGuard: FloodGuard
    private var silentReads = StalledReadDetector()
    /// The sockets of established connections.
    private var sockets: [ConnectionEndpoints: FloodGuard.OpenSocket] = [:]
    /// The connections by descriptor: the endpoints of a socket that the server has reset cannot be determined.
    private var endpoints: [Int32: ConnectionEndpoints] = [:]
    /// The connection that the current call of libcurl is for; `nil` if it is for none, for example for timers.
    private var current: Int32?
    /// The connection that stays open when libcurl no longer uses it.
    private var kept: Int32?
    /// The content of that connection that the call has delivered so far.
    private var content = CallContent.nothing

    init(poller: EventPoller, floodGuard: FloodGuard) {
        self.poller = poller
        self.floodGuard = floodGuard
    }

    /// Records that `descriptor` is an open connection, without TLS if `isPlain`; ``released(_:)`` follows.
    func opened(_ descriptor: Int32, isPlain: Bool) -> FloodGuard.OpenSocket {
        if isPlain { silentReads.watch(descriptor) }
        poller.connectionOpened(descriptor)
        return floodGuard.connectionOpened(descriptor)
    }

    /// Records that a connection is established, over one of `opened` if they were opened for it; otherwise, it is a
    /// connection used before.
    ///
    /// Returns its socket, or `nil` if it is unknown.
    func established(
        _ connection: ConnectionEndpoints, over opened: [FloodGuard.OpenSocket]
    ) -> FloodGuard.OpenSocket? {
        if let socket = opened.first(where: { ConnectionEndpoints(of: $0.descriptor) == connection }) {
            sockets[connection] = socket
            endpoints[socket.descriptor] = connection
        }
        return sockets[connection]
    }

    /// Records that libcurl no longer uses `descriptor`; returns whether it is to be closed now.
    func released(_ descriptor: Int32) -> Bool {
        guard descriptor == kept else {
            closed(descriptor)
            return true
        }
        kept = nil
        forget(descriptor)
        return false
    }

    /// Records that `descriptor` is about to be closed.
    func closed(_ descriptor: Int32) {
        forget(descriptor)
        poller.connectionClosed(descriptor)
    }

    private func forget(_ descriptor: Int32) {
        if let connection = endpoints.removeValue(forKey: descriptor), sockets[connection]?.descriptor == descriptor {
            sockets[connection] = nil
        }
        floodGuard.connectionClosed(descriptor)
        silentReads.forget(descriptor)
    }

    /// Keeps `descriptor` open while libcurl performs `release`; returns whether libcurl has released it.
    func keeping(_ descriptor: Int32, during release: () -> Void) -> Bool {
        kept = descriptor
        defer { kept = nil }
        release()
        return kept == nil
    }

    /// Prepares for a call of libcurl for the connection `descriptor`.
    func beginCall(for descriptor: Int32) { (current, content) = (descriptor, .nothing) }

    /// Records that libcurl has delivered `content` of the connection `descriptor`, if it is known, by a callback.
    ///
    /// A call for one connection can also deliver from others whose timers are due.
    func delivered(_ content: CallContent, from descriptor: Int32?) {
        floodGuard.calledBack()
        if let descriptor, descriptor != current {
            silentReads.delivered(content, from: descriptor) { floodGuard.bytesRead(from: descriptor) }
        } else {
            self.content = max(self.content, content)
        }
    }

    /// Records the end of a call of libcurl for the connection `descriptor`; ends the connection if it was readable and
    /// keeps delivering bytes of no response.
    func endCall(for descriptor: Int32, wasReadable: Bool) {
        current = nil
        guard wasReadable else { return }
        let isFlood = silentReads.note(descriptor, content) { floodGuard.bytesRead(from: descriptor) }
        if isFlood { floodGuard.endConnection(descriptor) }
    }
}
