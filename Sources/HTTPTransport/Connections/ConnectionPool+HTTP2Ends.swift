import HTTPTypes

// The end of streams and connections of HTTP/2.
extension ConnectionPool {
    /// The time within which a server that is there has usually answered.
    private static let patience = Duration.seconds(2)

    /// Ends the exchange of a stream that has ended.
    func end(_ stream: HTTP2Stream, _ end: HTTP2StreamEnd) {
        let transfer = stream.transfer
        switch end {
        case .complete: self.end(stream, ExchangeEnd.complete)
        case .refused:
            let announcement = stream.connection.session.peerClose
            lose(stream, announcement?.detail ?? "the server refused the request", .ifRefused)
        case .requiresHTTP1:
            requireHTTP1(stream.connection.key)
            let code = HTTP2ErrorCode.http11Required
            // Nothing guarantees that the request has not been processed.
            let isSafe = [.get, .head].contains(transfer.request.method)
            lose(stream, code.detail("reset the stream"), isSafe ? .ifRefused : .never, code: code)
        case .reset(let code):
            if code == .enhanceYourCalm { calmPeriods.insert(stream.connection.key, at: deadlines.now) }
            lose(stream, code.detail("reset the stream"), code: code)
        // nghttp2 does not distinguish a shorter body from a longer one, which must not be continued.
        case .invalid(.protocolError, "", let announcedBytes) where transfer.lacksBody(after: announcedBytes):
            lose(stream, nil)
        case .invalid(let code, let fault, _):
            if transfer.abortReason == nil, !transfer.incoming.isIntermediate {
                let detail = "the response violates HTTP/2: \(code)"
                transfer.fail(.invalidResponse, detail: fault.isEmpty ? detail : "\(detail), \(fault)")
            }
            self.end(stream, .aborted)
        }
    }

    /// Ends a stream before its response is complete; `code` is that of the server for the stream, if there is one.
    private func lose(
        _ stream: HTTP2Stream, _ detail: String?, _ repetition: ExchangeEnd.Repetition = .ifUnanswered,
        code: HTTP2ErrorCode? = nil
    ) {
        let announcement = stream.connection.session.peerClose
        let error = stream.transfer.connectionError(detail ?? announcement?.detail)
        // A server that receives too much must not get the same at once.
        let isOverloaded = code == .enhanceYourCalm || announcement?.code == .enhanceYourCalm
        end(stream, .failed(error, isOverloaded ? .never : repetition))
    }

    /// Ends the exchange of a stream.
    func end(_ stream: HTTP2Stream, _ end: ExchangeEnd) {
        guard !stream.hasEnded else { return }
        stream.hasEnded = true
        self.end(stream.transfer, end)
    }

    /// Ends a stream, whose transfer no longer needs it.
    func release(_ stream: HTTP2Stream) {
        let connection = stream.connection
        guard connection.streams.removeValue(forKey: stream.number) != nil, !connection.isClosed else { return }
        if stream.end == nil {
            connection.session.cancel(stream.number)
            needsToSend(connection)
            if isSilent(stream) { connection.isRetired = true }
        }
        hasRoom(connection)
        if connection.streams.isEmpty { keep(connection) }
    }

    /// Keeps a connection without streams for another request, if that is possible.
    func keep(_ connection: HTTP2Connection) {
        guard !connection.isEnding else { return close(connection) }
        connection.becomeIdle(at: deadlines.now)
        idle.insert(connection)
        limitIdle()
    }

    /// Returns whether nothing has arrived while the transfer waited, as far as it was the server's turn: the server may
    /// be gone, and other requests must not wait as long.
    private func isSilent(_ stream: HTTP2Stream) -> Bool {
        guard !stream.hasEnded, !stream.isPaused else { return false }
        // Many transfers are canceled before the server can have answered.
        if stream.transfer.handle.isCancelled, stream.lastRead.duration(to: deadlines.now) < Self.patience {
            return false
        }
        return stream.connection.lastRead.map { $0 <= stream.lastRead } ?? true
    }

    /// Records that a connection may have room for another stream.
    func hasRoom(_ connection: HTTP2Connection) {
        guard !connection.isInRoomy, connection.isOpen else { return }
        connection.isInRoomy = true
        roomy.append(connection)
    }

    /// Uses HTTP/1.1 for further requests to a server.
    func requireHTTP1(_ key: ConnectionKey) {
        http1Requirements.insert(key, at: deadlines.now)
        for connection in shared[key] ?? [] {
            connection.isRetired = true
            if connection.streams.isEmpty { close(connection) }
        }
    }

    /// Closes a connection that has failed with an error of the system, a failure of HTTP/2, or neither if the server has
    /// closed it; its streams end.
    func fail(_ connection: HTTP2Connection, _ error: Int32 = 0, failure: HTTP2Failure? = nil) {
        guard !connection.isClosed else { return }
        let failureOfTLS = connection.stream.failure
        let isAnnounced = connection.session.peerClose?.detail != nil
        let isFinal =
            switch failureOfTLS?.kind {
            case .rejected, .endlessData, .tooManyOpenFiles: true
            case .brokenOff, .unannouncedEnd, nil: false
            }
        close(connection)
        // In the order of the requests, so that retries keep it.
        // The others have arrived completely.
        let streams = connection.streams.values.filter { !$0.hasEnded && $0.end == nil }
        for stream in streams.sorted(by: { $0.number < $1.number }) {
            let transfer = stream.transfer
            // What was not delivered is not needed: the response is incomplete.
            switch failure {
            case .flood?:
                if transfer.abortReason == nil { transfer.fail(.invalidResponse, detail: failure?.detail) }
                end(stream, .aborted)
            // Whichever stream it was, the others are not at fault, and this one may not be either.
            case let failure?: lose(stream, failure.detail)
            case nil where error != 0 && (!isAnnounced || isFinal):
                end(stream, transfer.loss(.ifUnanswered, error, failureOfTLS))
            case nil: lose(stream, nil)
            }
        }
    }

    /// Closes a connection.
    func close(_ connection: HTTP2Connection) {
        guard !connection.isClosed else { return }
        connection.isClosed = true
        connection.opener = nil
        idle.remove(connection)
        shared[connection.key]?.removeAll { $0 === connection }
        if shared[connection.key]?.isEmpty == true { shared[connection.key] = nil }
        close(.http2(connection))
    }
}
