import CCurl
import SocketPolling

/// The connections of a thread over which this module itself speaks HTTP/1.1: those to servers without TLS or a proxy.
///
/// libcurl opens them. From then on, it would take more time for a short response than the system and the remainder of
/// this module together. Confined to the worker's thread.
@safe
final class HTTP1Connections {
    /// The size of the buffer for one read.
    static let bufferSize = 60 << 10
    let poller: EventPoller
    let shares: ThreadTimeShares
    let deadlines: DeadlineWatch
    private let maximumIdleConnections: Int
    let buffer: UnsafeMutableRawBufferPointer
    /// The parts of a body that are collected; empty between calls.
    var smallParts: [UInt8] = []
    private var writer = HTTP1RequestWriter()
    private var connections: [Int32: HTTP1Connection] = [:]
    private var idle = IdleHTTP1Connections()
    var dueReads = DueReads()
    private var closedCount = 0
    /// The transfers that have ended and have not been reported.
    var ended: [(transfer: CurlTransfer, result: CURLcode)] = []
    /// The transfers that are being reported; swapped with ``ended``, so that neither has to grow again.
    private var reported: [(transfer: CurlTransfer, result: CURLcode)] = []

    init(
        poller: EventPoller, shares: ThreadTimeShares, deadlines: DeadlineWatch, maximumIdleConnections: Int
    ) {
        self.poller = poller
        self.shares = shares
        self.deadlines = deadlines
        self.maximumIdleConnections = maximumIdleConnections
        unsafe buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
    }

    deinit {
        for connection in connections.values { connection.socket.close() }
        unsafe buffer.deallocate()
    }

    /// The number of open connections.
    var count: Int { connections.count }

    /// A Boolean value that indicates whether a connection is idle.
    var hasIdle: Bool { idle.count > 0 }

    /// A Boolean value that indicates whether a transfer has ended and has not been reported.
    var hasEnded: Bool { !ended.isEmpty }

    /// Returns the number of connections that have been closed since the last call.
    func takeClosedCount() -> Int {
        defer { closedCount = 0 }
        return closedCount
    }

    /// Calls `body` with each transfer that has ended, and its result in libcurl's terms, until there are none.
    func forEachEnded(_ body: (CurlTransfer, CURLcode) -> Void) {
        while !ended.isEmpty {
            swap(&ended, &reported)
            // Those that have been canceled meanwhile have no connection anymore.
            for (transfer, result) in reported where transfer.http1Connection?.hasEnded == true {
                body(transfer, result)
            }
            reported.removeAll(keepingCapacity: true)
        }
    }

    /// Sends the request of `transfer` over an idle connection; returns `false` if there is none.
    func sendOverIdleConnection(_ transfer: CurlTransfer, _ key: ConnectionKey) -> Bool {
        while let connection = idle.removeLast(for: key) {
            guard connection.isUsable(at: deadlines.now) else {
                close(connection)
                continue
            }
            // libcurl has announced only new connections.
            transfer.connected(nil, of: nil)
            begin(transfer, over: connection)
            return true
        }
        return false
    }

    /// Sends the request of `transfer` over a connection that libcurl has just established for it.
    func send(_ transfer: CurlTransfer, _ key: ConnectionKey, overNew socket: Socket) {
        let connection = HTTP1Connection(socket, key: key, now: .now)
        connections[socket.descriptor] = connection
        begin(transfer, over: connection)
    }

    /// Handles an event of a socket; returns `false` if it is none of these connections.
    func handle(_ event: SocketEvent) -> Bool {
        guard let connection = connections[event.descriptor] else { return false }
        if connection.transfer == nil {
            // The server has closed the connection, or sent something without a request.
            idle.remove(connection)
            close(connection)
        } else {
            // First, because the response can explain why the remainder cannot be sent.
            if event.isReadable || event.isBroken { read(connection) }
            // Not while paused: an event that nothing handles would be reported again immediately.
            if !connection.unsent.isEmpty, !connection.hasEnded, !connection.isPaused { sendRemainder(connection) }
        }
        return true
    }

    /// The time when ``readDue()`` must be called; `nil` if no bytes are left in sockets.
    var nextDueRead: MonotonicInstant? { dueReads.next() }

    /// Reads from the connections whose bytes have been left in the socket for long enough.
    func readDue() {
        while let connection = dueReads.remove(at: deadlines.now) { read(connection) }
    }

    /// Continues to deliver the response to `transfer`, which was paused.
    func resume(_ transfer: CurlTransfer) {
        guard let connection = transfer.http1Connection, connection.isPaused, !connection.hasEnded else { return }
        connection.isPaused = false
        poller.watch(connection.descriptor, for: connection.unsent.isEmpty ? .readable : [.readable, .writable])
        let (undelivered, unread) = (connection.undelivered, connection.unread)
        (connection.undelivered, connection.unread) = ([], [])
        // Also without bytes, because the response can be complete.
        if deliver(body: undelivered.span, of: connection, before: unread.span) {
            deliver(unread.span, of: connection)
        }
    }

    /// Separates `transfer` from its connection, which is kept for another request if that is possible.
    func release(_ transfer: CurlTransfer) {
        guard let connection = transfer.http1Connection else { return }
        transfer.http1Connection = nil
        connection.transfer = nil
        guard connection.isReusable else { return close(connection) }
        connection.becomeIdle(at: deadlines.now)
        idle.insert(connection)
        if poller.connectionCount > maximumIdleConnections { closeOldestIdle() }
    }

    /// Closes the connection that has been idle longest; returns `false` if there is none.
    @discardableResult
    func closeOldestIdle() -> Bool {
        guard let oldest = idle.removeOldest() else { return false }
        close(oldest)
        return true
    }

    private func close(_ connection: HTTP1Connection) {
        connection.coalescing.stop()
        connections[connection.descriptor] = nil
        closedCount += 1
        poller.connectionClosed(connection.descriptor)
        connection.socket.close()
    }
}

// MARK: - Requests

extension HTTP1Connections {
    private func begin(_ transfer: CurlTransfer, over connection: HTTP1Connection) {
        connection.begin(transfer)
        transfer.http1Connection = connection
        writer.write(transfer.request, to: &connection.unsent)
        sendRemainder(connection)
    }

    private func sendRemainder(_ connection: HTTP1Connection) {
        switch connection.socket.send(connection.unsent.span) {
        case .count(connection.unsent.count):
            connection.unsent.removeAll(keepingCapacity: true)
            poller.watch(connection.descriptor, for: .readable)
        case .count(let count):
            connection.unsent.removeFirst(count)
            poller.watch(connection.descriptor, for: [.readable, .writable])
        case .wouldBlock:
            poller.watch(connection.descriptor, for: [.readable, .writable])
        case .failed(let error):
            end(connection, CURLE_SEND_ERROR, error)
        }
    }
}
