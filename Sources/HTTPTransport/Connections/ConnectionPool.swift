import SocketPolling

/// The connections of a thread over which this module itself speaks HTTP; ``ActiveTransfer/keyInPool(proxy:)`` tells for
/// which requests.
///
/// libcurl opens them, without TLS. From then on, it would take more time for a short response than the system and the
/// remainder of this module together. Confined to the worker's thread.
@safe
final class ConnectionPool {
    /// A connection that the poller reports events of.
    enum Member {
        case handshake(TLSHandshake)
        case http1(HTTP1Connection)
        case http2(HTTP2Connection)
    }

    /// The way of a transfer to a connection.
    enum Route {
        /// The request is being sent.
        case sent
        /// The transfer waits for the first connection to its server, or until it may open another, and is among
        /// ``takeReleased()`` later.
        case waits
        /// A connection must be opened.
        case needsConnection
    }

    /// The size of the buffer for one read.
    static let bufferSize = 60 << 10
    let poller: EventPoller
    let shares: ThreadTimeShares
    let deadlines: DeadlineWatch
    let maximumIdleConnections: Int
    private let contexts: TLSContexts
    let buffer: UnsafeMutableRawBufferPointer
    /// The parts of a body that are collected; empty between calls.
    var smallParts: [UInt8] = []
    var writer = HTTP1RequestWriter()
    var members: [Int32: Member] = [:]
    var idle = IdleConnections()
    /// The HTTP/2 connections to each server.
    var shared: [ConnectionKey: [HTTP2Connection]] = [:]
    var gate = ConnectionGate()
    var http1Requirements = HTTP1Requirements()
    var places = ConnectionPlaces()
    var calmPeriods = CalmPeriods()
    var dueReads = DueReads()
    /// The connections with received bytes that the poller does not report, each once.
    var unfinished: [Connection] = []
    /// The HTTP/2 connections that may have room for another stream since ``takeRoomy()``, each once.
    var roomy: [HTTP2Connection] = []
    /// The connections with frames to send.
    var withUnsent: [HTTP2Connection] = []
    var closedCount = 0
    /// The transfers that have ended and have not been reported.
    private var ended: [(transfer: ActiveTransfer, end: ExchangeEnd)] = []
    /// The transfers that are being reported; swapped with ``ended``, so that neither has to grow again.
    private var reported: [(transfer: ActiveTransfer, end: ExchangeEnd)] = []

    init(
        poller: EventPoller, shares: ThreadTimeShares, deadlines: DeadlineWatch, maximumIdleConnections: Int,
        contexts: TLSContexts
    ) {
        self.poller = poller
        self.shares = shares
        self.deadlines = deadlines
        self.maximumIdleConnections = maximumIdleConnections
        self.contexts = contexts
        unsafe buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
    }

    deinit {
        idle.removeAll()
        for member in members.values { member.stream.close() }
        unsafe buffer.deallocate()
    }

    /// The number of open connections.
    var count: Int { members.count }

    /// A Boolean value that indicates whether a connection is idle.
    var hasIdle: Bool { idle.count > 0 }

    /// A Boolean value that indicates whether a transfer has ended and has not been reported, or can continue.
    var hasNews: Bool {
        !ended.isEmpty || gate.hasReleased || places.hasReleased || calmPeriods.hasReleased || !roomy.isEmpty
    }

    /// A Boolean value that indicates whether received bytes can be read without waiting.
    var hasUnfinished: Bool { !unfinished.isEmpty }

    /// Returns the number of connections that have been closed since the last call.
    func takeClosedCount() -> Int {
        defer { closedCount = 0 }
        return closedCount
    }

    /// Returns a transfer that no longer waits for its server; `nil` if there is none.
    func takeReleased() -> UInt64? {
        gate.takeReleased() ?? places.takeReleased() ?? calmPeriods.takeReleased()
    }

    /// Returns the HTTP/2 connections that have room for another stream, and may not have had it at the last call.
    func takeRoomy() -> [HTTP2Connection] {
        guard !roomy.isEmpty else { return [] }
        defer { roomy = [] }
        for connection in roomy { connection.isInRoomy = false }
        return roomy.filter(\.isOpen)
    }

    /// Calls `body` with each transfer whose exchange has ended, until there are none.
    func forEachEnded(_ body: (ActiveTransfer, ExchangeEnd) -> Void) {
        while !ended.isEmpty {
            swap(&ended, &reported)
            // Those that have been canceled meanwhile have no connection anymore.
            for (transfer, end) in reported where transfer.exchange != nil { body(transfer, end) }
            reported.removeAll(keepingCapacity: true)
        }
    }

    /// Ends the exchange of `transfer`.
    func end(_ transfer: ActiveTransfer, _ end: ExchangeEnd) { ended.append((transfer, end)) }
}

// MARK: - Requests

extension ConnectionPool {
    /// Sends the request of `transfer` over a connection that can be used at once, if there is one.
    func send(_ transfer: ActiveTransfer, _ key: ConnectionKey) -> Route {
        if key.isSecure, let connection = sharedConnection(to: key, for: transfer) {
            open(transfer, on: connection, isFirst: false)
            stopConnecting(transfer, failed: false)
            return .sent
        }
        guard hasPlace(transfer, at: key) else { return .waits }
        // A retry must not depend on another old connection.
        if !transfer.isRepeated, sendOverIdleConnection(transfer, key) {
            stopConnecting(transfer, failed: false)
            return .sent
        }
        guard key.isSecure else { return .needsConnection }
        guard !calmPeriods.makesWait(transfer.handle.id, for: key, at: deadlines.now) else { return .waits }
        guard gate.mayConnect(transfer.handle.id, to: key) else { return .waits }
        transfer.openedKey = key
        return .needsConnection
    }

    private func sharedConnection(to key: ConnectionKey, for transfer: ActiveTransfer) -> HTTP2Connection? {
        for connection in shared[key] ?? [] where connection.mayHaveRoom(for: transfer) {
            // The server may have ended it meanwhile.
            if connection.isIdle { read(connection) }
            if connection.isOpen { return connection }
        }
        return nil
    }

    /// Returns whether the transfer may have a connection of its own; otherwise, it waits for a place at a server that
    /// turned out to require HTTP/1.1.
    private func hasPlace(_ transfer: ActiveTransfer, at key: ConnectionKey) -> Bool {
        guard http1Requirements.contains(key, at: deadlines.now), transfer.placeKey == nil,
            let limit = transfer.request.maximumConnectionsPerHost
        else { return true }
        guard places.take(for: transfer.handle.id, at: key, limit: max(1, limit)) else {
            // Those that wait for it to connect have the places.
            stopConnecting(transfer, failed: false)
            transfer.waitForPlace(at: key)
            return false
        }
        transfer.placeKey = key
        // Its new connection takes the place of an old one.
        if transfer.isRepeated, let connection = idle.removeLast(for: key) { close(connection) }
        return true
    }

    private func sendOverIdleConnection(_ transfer: ActiveTransfer, _ key: ConnectionKey) -> Bool {
        while let connection = idle.removeLast(for: key) {
            guard connection.isUsable(at: deadlines.now) else {
                close(connection)
                continue
            }
            begin(transfer, over: connection)
            return true
        }
        return false
    }

    /// Sends the request of `transfer` over a connection that libcurl has just established for it.
    ///
    /// Throws an error, and closes the connection, if a file that TLS needs cannot be read.
    func send(_ transfer: ActiveTransfer, _ key: ConnectionKey, overNew socket: Socket) throws(TLSFailure) {
        let now = MonotonicInstant.now
        guard key.isSecure else {
            let connection = HTTP1Connection(.plain(socket), key: key, start: ConnectionStart(connected: now))
            members[socket.descriptor] = .http1(connection)
            return begin(transfer, over: connection)
        }
        do {
            let tls = try contexts.connection(
                to: key.host, port: key.port, over: socket, offersHTTP2: !http1Requirements.contains(key, at: now),
                now: now)
            let handshake = TLSHandshake(tls, key: key, connected: now, for: transfer)
            members[socket.descriptor] = .handshake(handshake)
            transfer.exchange = handshake
            advance(handshake)
        } catch {
            closedCount += 1
            poller.connectionClosed(socket.descriptor)
            socket.close()
            throw error
        }
    }

    /// Continues the negotiation of TLS, and sends the request at its end.
    func advance(_ handshake: TLSHandshake) {
        guard !handshake.hasEnded else { return }
        let descriptor = handshake.tls.socket.descriptor
        switch handshake.tls.handshake() {
        case .wantsRead: poller.watch(descriptor, for: .readable)
        case .wantsWrite: poller.watch(descriptor, for: .writable)
        case .failed(let failure):
            http1Requirements.remove(handshake.key)
            handshake.hasEnded = true
            end(handshake.transfer, handshake.transfer.abortion(by: failure))
        case .complete:
            complete(handshake)
        }
    }

    private func complete(_ handshake: TLSHandshake) {
        let (tls, key, transfer) = (handshake.tls, handshake.key, handshake.transfer)
        let start = ConnectionStart(connected: handshake.connected, secured: .now)
        let isShared = tls.negotiatesHTTP2
        if isShared {
            let connection: HTTP2Connection
            do {
                connection = try HTTP2Connection(.secure(tls), key: key, start: start, of: self)
            } catch {
                handshake.hasEnded = true
                return end(transfer, .failed(transfer.error(.connectionFailed, error.detail), .never))
            }
            transfer.openedKey = nil
            members[tls.socket.descriptor] = .http2(connection)
            shared[key, default: []].append(connection)
            poller.watch(connection.descriptor, for: .readable)
            open(transfer, on: connection, isFirst: true)
            hasRoom(connection)
            // Read with the end of the handshake.
            readAgainIfNeeded(connection)
            if transfer.isRepeated {
                // The server may have refused more streams than it accepts, and would do so again.
                connection.opener = transfer
                transfer.openedKey = key
                return transfer.learnProtocol()
            }
        } else {
            let connection = HTTP1Connection(.secure(tls), key: key, start: start)
            members[tls.socket.descriptor] = .http1(connection)
            transfer.openedKey = nil
            begin(transfer, over: connection)
        }
        transfer.learnProtocol()
        gate.connected(to: key, isShared: isShared)
    }

    /// Lets further transfers use a connection that was opened for a retry, once the server's limit of streams is known.
    func learnLimit(of connection: HTTP2Connection) {
        guard let opener = connection.opener, connection.session.hasPeerSettings else { return }
        connection.opener = nil
        guard opener.openedKey == connection.key else { return }
        opener.openedKey = nil
        gate.connected(to: connection.key, isShared: true)
        hasRoom(connection)
    }
}
