import HTTPTypes
import SocketPolling

// Requests and responses in HTTP/2.
extension ConnectionPool {
    /// Opens a stream for the request of `transfer`.
    func open(_ transfer: ActiveTransfer, on connection: HTTP2Connection, isFirst: Bool) {
        // Not before the connection was established, from which a retry distinguishes another one.
        let now = max(deadlines.now, connection.start.end)
        transfer.sendsRequest(at: now)
        do {
            let number = try connection.session.open(transfer.requestWithCredential)
            let stream = HTTP2Stream(number, on: connection, for: transfer, isFirst: isFirst, at: now)
            idle.remove(connection)
            connection.streams[number] = stream
            transfer.exchange = stream
        } catch {
            let stream = HTTP2Stream(0, on: connection, for: transfer, isFirst: isFirst, at: now)
            stream.hasEnded = true
            transfer.exchange = stream
            if case .requestTooLarge(let limit) = error {
                transfer.fail(.requestTooLarge(limit: limit))
                end(transfer, .aborted)
                if isFirst { keep(connection) }
            } else {
                // Not a failure of the transfer's own: it is repeated over another connection.
                connection.isRetired = true
                end(transfer, .failed(transfer.connectionError(error.detail), .ifUnanswered))
                if connection.streams.isEmpty { return close(connection) }
            }
        }
        needsToSend(connection)
    }

    /// Sends the frames of a connection at the end of this turn.
    func needsToSend(_ connection: HTTP2Connection) {
        guard !connection.isInUnsent, !connection.isClosed, !connection.isBroken else { return }
        connection.isInUnsent = true
        withUnsent.append(connection)
    }

    /// Sends the frames of this turn, those of one connection together.
    func sendFrames() {
        guard !withUnsent.isEmpty else { return }
        let connections = withUnsent
        withUnsent.removeAll(keepingCapacity: true)
        for connection in connections {
            connection.isInUnsent = false
            send(connection)
        }
    }

    private func send(_ connection: HTTP2Connection) {
        guard !connection.isClosed, !connection.isBroken else { return }
        if case .failed(let error) = sendPending(connection) {
            // What has arrived can contain the ends of responses, and the reason.
            connection.isBroken = true
            while !connection.isClosed, readTurn(of: connection) {}
            return fail(connection, error)
        }
        if let failure = connection.session.failure { return fail(connection, failure: failure) }
        let waits = connection.session.wantsToSend
        guard waits != connection.waitsToSend else { return }
        connection.waitsToSend = waits
        poller.watch(connection.descriptor, for: waits ? [.readable, .writable] : .readable)
    }

    private func sendPending(_ connection: HTTP2Connection) -> SocketResult {
        var result = SocketResult.count(0)
        connection.session.sendPending { bytes in
            result = connection.stream.send(bytes)
            if case .count(let count) = result { return count }
            return 0
        }
        return result
    }

    /// Handles an event of a connection.
    func handle(_ event: SocketEvent, of connection: HTTP2Connection) {
        if event.isReadable || event.isBroken { read(connection) }
        if event.isWritable { needsToSend(connection) }
    }

    /// Reads and delivers what has arrived, up to ``bytesPerTurn``.
    func read(_ connection: HTTP2Connection) {
        _ = readTurn(of: connection)
        if connection.isClosed { return }
        learnLimit(of: connection)
        if connection.isEnding, connection.streams.isEmpty { return close(connection) }
        if connection.session.wantsToSend { needsToSend(connection) }
        readAgainIfNeeded(connection)
    }

    /// Returns whether more may have arrived.
    private func readTurn(of connection: HTTP2Connection) -> Bool {
        var total = 0
        while total < Self.bytesPerTurn, !connection.isClosed {
            switch unsafe connection.stream.receive(into: buffer) {
            case .count(0): fail(connection)
            case .failed(let error): fail(connection, error)
            case .wouldBlock: return false
            case .count(let count):
                total += count
                connection.lastRead = deadlines.now
                shares.beginCall()
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count]).bindMemory(to: UInt8.self)
                receive(unsafe bytes.span, of: connection)
                if count < Self.bufferSize { return true }
            }
        }
        return true
    }

    private func receive(_ bytes: Span<UInt8>, of connection: HTTP2Connection) {
        let before = connection.session.peerClose
        defer {
            let close = connection.session.peerClose
            if close != before, close?.code == .http11Required { requireHTTP1(connection.key) }
            if close != before, close?.code == .enhanceYourCalm {
                calmPeriods.insert(connection.key, at: deadlines.now)
            }
        }
        do {
            try connection.session.receive(bytes)
            deliverCollected(on: connection)
        } catch {
            // Responses can be complete.
            deliverCollected(on: connection)
            _ = sendPending(connection)
            fail(connection, failure: error)
        }
    }
}

// MARK: - Responses

extension ConnectionPool {
    func receive(headerLines lines: Span<UInt8>, of stream: HTTP2Stream) {
        guard !stream.hasEnded else { return }
        if stream.firstByte == nil { stream.firstByte = deadlines.now }
        stream.lastRead = deadlines.now
        // Trailers follow the body, which the transfer has not taken yet, and do not matter.
        guard stream.undelivered.isEmpty, !stream.isPaused else { return }
        if !stream.transfer.receive(headerLines: lines) { end(stream, .aborted) }
    }

    func receive(body: Span<UInt8>, of stream: HTTP2Stream) {
        guard !stream.hasEnded else { return }
        stream.lastRead = deadlines.now
        // Short parts are collected until the end of the read, or for a paused transfer, up to the stream's window.
        if stream.isPaused || !stream.undelivered.isEmpty || body.count < Self.smallPart {
            if stream.undelivered.isEmpty, !stream.isPaused { stream.connection.collecting.append(stream) }
            stream.undelivered.append(copying: body)
        } else {
            deliver(body, of: stream)
        }
    }

    func receive(_ end: HTTP2StreamEnd, of stream: HTTP2Stream) {
        guard !stream.hasEnded else { return }
        stream.end = end
        if stream.undelivered.isEmpty, !stream.isPaused { self.end(stream, end) }
    }

    /// Continues to deliver the response on a stream whose transfer was paused.
    func resume(_ stream: HTTP2Stream) {
        guard stream.isPaused, !stream.hasEnded else { return }
        stream.isPaused = false
        deliverUndelivered(of: stream)
        if stream.connection.session.wantsToSend { needsToSend(stream.connection) }
    }

    private func deliverCollected(on connection: HTTP2Connection) {
        guard !connection.collecting.isEmpty else { return }
        let streams = connection.collecting
        connection.collecting.removeAll(keepingCapacity: true)
        for stream in streams where !stream.isPaused && !stream.hasEnded { deliverUndelivered(of: stream) }
    }

    private func deliverUndelivered(of stream: HTTP2Stream) {
        let bytes = stream.undelivered
        stream.undelivered = []
        deliver(bytes.span, of: stream)
        if let end = stream.end, stream.undelivered.isEmpty, !stream.isPaused { self.end(stream, end) }
    }

    /// Delivers a part of the body; keeps the remainder if the transfer pauses.
    private func deliver(_ bytes: Span<UInt8>, of stream: HTTP2Stream) {
        let transfer = stream.transfer
        var start = 0
        while start < bytes.count, !stream.hasEnded {
            let isLimited = transfer.delivered.bodyBytes == 0 || transfer.decoder != nil
            let limit = isLimited ? Self.firstPart : bytes.count
            let part = bytes.extracting(start..<min(bytes.count, start + limit))
            switch transfer.receive(body: part) {
            case .more:
                start += part.count
                stream.connection.session.consume(part.count, of: stream.number)
            case .pause:
                stream.undelivered.append(copying: bytes.extracting(start...))
                stream.isPaused = true
                return
            case .stop:
                return end(stream, .aborted)
            }
        }
    }
}
