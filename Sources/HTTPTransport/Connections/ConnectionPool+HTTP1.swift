import HTTPTypes
import SocketPolling

// Requests and responses in HTTP/1.1.
extension ConnectionPool {
    /// The number of reads from a connection before others are served.
    private static let readsPerTurn = 4
    /// The maximum number of bytes read from a connection before others are served.
    static let bytesPerTurn = readsPerTurn * bufferSize
    /// The size in bytes below which parts of a body, such as short chunks, are collected before they are delivered.
    static let smallPart = 4 << 10
    /// The maximum size in bytes of the first part, after which a receiver that checks the head can pause, of the first
    /// read if the receiver can read the remainder to its own memory, and of each part of a body that is decoded, which
    /// takes long compared with the size.
    static let firstPart = 16 << 10

    func begin(_ transfer: ActiveTransfer, over connection: HTTP1Connection) {
        connection.begin(transfer)
        transfer.exchange = connection
        transfer.sendsRequest(at: deadlines.now)
        writer.write(transfer.requestWithCredential, to: &connection.unsent)
        sendRemainder(connection)
    }

    private func sendRemainder(_ connection: HTTP1Connection) {
        switch connection.stream.send(connection.unsent.span) {
        case .count(connection.unsent.count):
            connection.unsent.removeAll(keepingCapacity: true)
            poller.watch(connection.descriptor, for: .readable)
        case .count(let count):
            connection.unsent.removeFirst(count)
            poller.watch(connection.descriptor, for: [.readable, .writable])
        case .wouldBlock:
            poller.watch(connection.descriptor, for: [.readable, .writable])
        case .failed(let error):
            fail(connection, .ifUnanswered, error)
        }
    }

    /// Handles an event of a connection.
    func handle(_ event: SocketEvent, of connection: HTTP1Connection) {
        guard connection.transfer != nil else {
            // The server has closed the connection, or sent something without a request; with TLS, it can also be a
            // session ticket.
            if case .secure = connection.stream, connection.stream.isSilent { return }
            idle.remove(connection)
            return close(connection)
        }
        // First, because the response can explain why the remainder cannot be sent.
        if event.isReadable || event.isBroken { read(connection) }
        // Not while paused: an event that nothing handles would be reported again immediately.
        if !connection.unsent.isEmpty, !connection.hasEnded, !connection.isPaused { sendRemainder(connection) }
    }

    /// Continues to deliver the response on a connection whose transfer was paused.
    func resume(_ connection: HTTP1Connection) {
        guard connection.isPaused, !connection.hasEnded else { return }
        connection.isPaused = false
        poller.watch(connection.descriptor, for: connection.unsent.isEmpty ? .readable : [.readable, .writable])
        let (undelivered, unread) = (connection.undelivered, connection.unread)
        (connection.undelivered, connection.unread) = ([], [])
        // Also without bytes, because the response can be complete.
        if deliver(body: undelivered.span, of: connection, before: unread.span) {
            deliver(unread.span, of: connection)
        }
        readAgainIfNeeded(connection)
    }

    /// Reads and delivers what has arrived, up to ``bytesPerTurn``.
    func read(_ connection: HTTP1Connection) {
        readTurn(of: connection)
        readAgainIfNeeded(connection)
    }

    private func readTurn(of connection: HTTP1Connection) {
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
                return fail(connection, .ifReused, error)
            }
        }
        coalesce(connection, after: total)
    }

    /// Reads the next bytes of a response to the buffer, and delivers them; also returns the size of the read.
    private func readAny(of connection: HTTP1Connection) -> (SocketResult, requested: Int) {
        let leavesBody = connection.firstByte == nil && connection.transfer?.handle.directReceiver != nil
        let buffer = unsafe UnsafeMutableRawBufferPointer(
            rebasing: buffer[..<(leavesBody ? Self.firstPart : Self.bufferSize)])
        let result = unsafe connection.stream.receive(into: buffer)
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
            result = connection.stream.receive(into: &output)
            if case .count(let count) = result { connection.reader.skipBody(count) }
        }
        switch demand {
        case nil: return nil
        // The response might be complete.
        case .more: deliver(Span(), of: connection)
        case .pause: pause(connection)
        case .stop: end(connection, .aborted)
        }
        return (result, requested)
    }

    /// Determines how many bytes the next read waits for, after one of `count` bytes.
    private func coalesce(_ connection: HTTP1Connection, after count: Int) {
        guard count > 0, !connection.hasEnded, !connection.isPaused, !connection.stream.hasReceivedBytes,
            let missing = connection.reader.missingBodyCount,
            let transfer = connection.transfer, ReceiveCoalescing.isAllowed(by: transfer.request.deadlines)
        else { return connection.coalescing.stop() }
        connection.coalescing.received(count, missing: missing, at: deadlines.now)
        dueReads.insert(connection)
    }

    /// Delivers received bytes to the transfer, until it pauses or ends.
    func deliver(_ input: Span<UInt8>, of connection: HTTP1Connection) {
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
                    return end(connection, .aborted)
                }
            case .joinedLine:
                guard transfer.receive(headerLines: connection.reader.joinedLine.span) else {
                    return end(connection, .aborted)
                }
            case .complete:
                connection.isDrained = position == input.count
                return end(connection, .complete)
            case .invalid(let reason):
                // The body of a redirect or challenge is not needed.
                if !transfer.incoming.isIntermediate { transfer.fail(.invalidResponse, detail: reason) }
                return end(connection, .aborted)
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
    func deliver(
        body bytes: Span<UInt8>, of connection: HTTP1Connection, before unread: Span<UInt8>
    ) -> Bool {
        guard let transfer = connection.transfer else { return true }
        var start = 0
        while start < bytes.count {
            let isLimited = transfer.delivered.bodyBytes == 0 || transfer.decoder != nil
            let limit = isLimited ? Self.firstPart : bytes.count
            let part = bytes.extracting(start..<min(bytes.count, start + limit))
            switch transfer.receive(body: part) {
            case .more:
                start += part.count
            case .pause:
                connection.undelivered.append(copying: bytes.extracting(start...))
                connection.unread.append(copying: unread)
                pause(connection)
                return false
            case .stop:
                end(connection, .aborted)
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
        guard let transfer = connection.transfer else { return }
        switch connection.reader.endInput() {
        case .nothing, .insideHead, .insideBody: end(connection, .failed(transfer.connectionError(), .ifReused))
        case .complete: end(connection, .complete)
        }
    }

    /// Ends the transfer of `connection`, which failed with an error of the system.
    private func fail(_ connection: HTTP1Connection, _ repetition: ExchangeEnd.Repetition, _ error: Int32) {
        guard let transfer = connection.transfer, !connection.hasEnded else { return }
        end(connection, transfer.loss(repetition, error, connection.stream.failure))
    }

    /// Ends the transfer of `connection`.
    private func end(_ connection: HTTP1Connection, _ end: ExchangeEnd) {
        guard let transfer = connection.transfer, !connection.hasEnded else { return }
        connection.hasEnded = true
        self.end(transfer, end)
    }
}
