import CCurl
import SocketPolling

/// The connections of a thread over which this module itself speaks HTTP/1.1: those to servers without TLS or a proxy.
///
/// libcurl opens them. From then on, it would take more time for a short response than the system and the remainder of
/// this module together. Confined to the worker's thread.
@safe
final class HTTP1Connections {
    /// The size of the buffer for one read.
    private static let bufferSize = 60 << 10
    /// The number of reads from a connection before others are served.
    private static let readsPerTurn = 4
    /// The maximum number of bytes read from a connection before others are served.
    static let bytesPerTurn = readsPerTurn * bufferSize
    /// The time after which idle connections are no longer used, as in libcurl: the server has probably closed them.
    static let maximumIdleTime = Duration.seconds(118)
    /// The size in bytes below which parts of a body, such as short chunks, are collected before they are delivered.
    private static let smallPart = 4 << 10
    /// The maximum size in bytes of the first part, after which a receiver that checks the head can pause, and of the
    /// first read if the receiver can read the remainder to its own memory.
    private static let firstPart = 16 << 10

    private let poller: EventPoller
    private let shares: ThreadTimeShares
    private let deadlines: DeadlineWatch
    private let maximumIdleConnections: Int
    private let buffer: UnsafeMutableRawBufferPointer
    /// The parts of a body that are collected; empty between calls.
    private var smallParts: [UInt8] = []
    private var writer = HTTP1RequestWriter()
    private var connections: [Int32: HTTP1Connection] = [:]
    private var idle = IdleHTTP1Connections()
    private var dueReads = DueReads()
    private var closedCount = 0
    /// The transfers that have ended and have not been reported.
    private var ended: [(transfer: CurlTransfer, result: CURLcode)] = []
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
            guard isUsable(connection) else {
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
            if !connection.unsent.isEmpty, !connection.hasEnded { sendRemainder(connection) }
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

    /// Returns whether the server has neither closed an idle connection nor sent anything, which would be taken for the
    /// response to the next request.
    private func isUsable(_ connection: HTTP1Connection) -> Bool {
        guard connection.lastUse.duration(to: deadlines.now) < Self.maximumIdleTime else {
            return false
        }
        return connection.socket.isSilent
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

// MARK: - Responses

extension HTTP1Connections {
    private func read(_ connection: HTTP1Connection) {
        var total = 0
        for _ in 0..<Self.readsPerTurn
        where !connection.hasEnded && !connection.isPaused && total < Self.bytesPerTurn {
            let (result, requested) =
                readBody(of: connection, upTo: Self.bytesPerTurn - total) ?? readAny(of: connection)
            switch result {
            case .count(0):
                return endInput(connection)
            case .count(let count):
                total += count
                guard count == requested else { return coalesce(connection, after: total) }
            case .wouldBlock:
                return coalesce(connection, after: total)
            case .failed(let error):
                return end(connection, CURLE_RECV_ERROR, error)
            }
        }
        coalesce(connection, after: total)
    }

    /// Reads the next bytes of a response to the buffer, and delivers them; also returns the size of the read.
    private func readAny(of connection: HTTP1Connection) -> (SocketResult, requested: Int) {
        let leavesBody = connection.firstByte == nil && connection.transfer?.handle.directReceiver != nil
        let buffer = unsafe UnsafeMutableRawBufferPointer(
            rebasing: buffer[..<(leavesBody ? Self.firstPart : Self.bufferSize)])
        let result = unsafe connection.socket.receive(into: buffer)
        if case .count(let count) = result, count > 0 {
            connection.noteBytes(at: deadlines.now)
            shares.beginCall()
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count]).bindMemory(to: UInt8.self)
            unsafe deliver(bytes.span, of: connection)
        }
        return (result, buffer.count)
    }

    /// Lets the receiver read the next bytes of the body, at most `count`, to its memory; returns `nil` if it does not.
    private func readBody(of connection: HTTP1Connection, upTo count: Int) -> (SocketResult, requested: Int)? {
        guard let missing = connection.reader.missingBodyCount, let transfer = connection.transfer else { return nil }
        var result = SocketResult.wouldBlock
        var requested = 0
        let demand = transfer.receive(bodyUpTo: min(count, missing)) { output in
            requested = output.freeCapacity
            result = connection.socket.receive(into: &output)
            if case .count(let count) = result { connection.reader.skipBody(count) }
        }
        switch demand {
        case nil: return nil
        // The response might be complete.
        case .more: deliver(Span(), of: connection)
        case .pause: pause(connection)
        case .stop: end(connection, CURLE_WRITE_ERROR)
        }
        return (result, requested)
    }

    /// Determines how many bytes the next read waits for, after one of `count` bytes.
    private func coalesce(_ connection: HTTP1Connection, after count: Int) {
        guard count > 0, !connection.hasEnded, !connection.isPaused, let missing = connection.reader.missingBodyCount,
            let transfer = connection.transfer, ReceiveCoalescing.isAllowed(by: transfer.request.deadlines)
        else { return connection.coalescing.stop() }
        connection.coalescing.received(count, missing: missing, at: deadlines.now)
        dueReads.insert(connection)
    }

    /// Delivers received bytes to the transfer, until it pauses or ends.
    private func deliver(_ input: Span<UInt8>, of connection: HTTP1Connection) {
        guard let transfer = connection.transfer else { return }
        var position = 0
        while true {
            let before = smallParts.isEmpty ? nil : (reader: connection.reader, position: position)
            let part = connection.reader.next(in: input, at: &position)
            if case .body(let range) = part {
                let bytes = input.extracting(range)
                let unread = input.extracting(position...)
                if smallParts.isEmpty, bytes.count >= Self.smallPart || position == input.count {
                    guard deliver(body: bytes, of: connection, before: unread) else { return }
                } else {
                    smallParts.append(copying: bytes)
                    guard smallParts.count < Self.smallPart || deliverSmallParts(of: connection, before: unread) else {
                        return
                    }
                }
                continue
            }
            if let before, !deliverSmallParts(of: connection, before: input.extracting(before.position...)) {
                // This part is read again when the transfer continues.
                connection.reader = before.reader
                return
            }
            switch part {
            case .body:
                continue
            case .needsMore:
                return
            case .lines(let range):
                guard transfer.receive(headerLines: input.extracting(range)) else {
                    return end(connection, CURLE_WRITE_ERROR)
                }
            case .joinedLine:
                guard transfer.receive(headerLines: connection.reader.joinedLine.span) else {
                    return end(connection, CURLE_WRITE_ERROR)
                }
            case .complete:
                connection.isDrained = position == input.count
                return end(connection, CURLE_OK)
            case .invalid(let reason):
                // The body of a redirect or challenge is not needed.
                if !transfer.incoming.isIntermediate { _ = transfer.fail(.invalidResponse, detail: reason) }
                return end(connection, CURLE_WEIRD_SERVER_REPLY)
            }
        }
    }

    /// Delivers the parts of the body that have been collected; returns `false` if the transfer pauses or ends.
    private func deliverSmallParts(of connection: HTTP1Connection, before unread: Span<UInt8>) -> Bool {
        defer { smallParts.removeAll(keepingCapacity: true) }
        return deliver(body: smallParts.span, of: connection, before: unread)
    }

    /// Delivers a part of the body, and keeps it with the bytes after it, `unread`, if the transfer pauses; returns
    /// `false` if it does or ends.
    private func deliver(
        body bytes: Span<UInt8>, of connection: HTTP1Connection, before unread: Span<UInt8>
    ) -> Bool {
        guard let transfer = connection.transfer else { return true }
        var start = 0
        while start < bytes.count {
            let limit = transfer.delivered.bodyBytes == 0 ? Self.firstPart : bytes.count
            let part = bytes.extracting(start..<min(bytes.count, start + limit))
            switch transfer.receive(body: part) {
            case part.count:
                start += part.count
            case Int(CURL_WRITEFUNC_PAUSE):
                connection.undelivered.append(copying: bytes.extracting(start...))
                connection.unread.append(copying: unread)
                pause(connection)
                return false
            default:
                end(connection, CURLE_WRITE_ERROR)
                return false
            }
        }
        return true
    }

    /// Reads no more until the transfer is resumed.
    private func pause(_ connection: HTTP1Connection) {
        connection.isPaused = true
        poller.forget(connection.descriptor)
    }

    /// Handles the end of the connection, which the server has closed.
    private func endInput(_ connection: HTTP1Connection) {
        switch connection.reader.endInput() {
        case .nothing: end(connection, CURLE_GOT_NOTHING)
        case .insideHead: end(connection, CURLE_RECV_ERROR)
        case .insideBody: end(connection, CURLE_PARTIAL_FILE)
        case .complete: end(connection, CURLE_OK)
        }
    }

    /// Ends the transfer of `connection` with `result`, and the system's error, if there is one.
    private func end(_ connection: HTTP1Connection, _ result: CURLcode, _ error: Int32 = 0) {
        guard let transfer = connection.transfer, !connection.hasEnded else { return }
        connection.hasEnded = true
        if error != 0 { transfer.systemError = error }
        ended.append((transfer, result))
    }
}
