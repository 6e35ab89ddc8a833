import CCurl
import SocketPolling
import Synchronization
import Threading

/// A thread of a ``CurlTransport`` with its own connections and libcurl multi handle.
///
/// The actor's executor is that thread, so that the callbacks of libcurl, OpenSSL, and nghttp2 are isolated to it. The
/// thread ends, and its connections are closed, when the worker is released and no transfer is active.
actor CurlWorker: TransferWorker {
    let state: SharedTransportState
    /// The assignment of transfers to this thread and others.
    private let assignment: ThreadAssignment
    nonisolated let thread: TransferThread
    let multi: CurlMulti
    let pool: ConnectionPool
    private(set) var transfers: [UInt64: ActiveTransfer] = [:]
    private let handles: CurlHandlePool
    /// Finished transfers whose receivers have not been notified yet.
    private var finished: [(ActiveTransfer, TransferOutcome)] = []
    let deadlines = DeadlineWatch()
    let shares = ThreadTimeShares()
    /// A Boolean value that indicates whether libcurl releases the connections that it opens for this module.
    ///
    /// If a version of libcurl does not, libcurl performs all requests.
    var takesConnections = true
    /// The transfers that wait until another connection may be opened, in order.
    var waitingForConnection: [UInt64] = []

    /// The executor: the thread on which transfers run.
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// Creates a worker whose thread is yet to be started.
    init(_ index: Int, of state: SharedTransportState, on thread: TransferThread) {
        self.state = state
        assignment = state.assignment(of: index)
        self.thread = thread
        let limits = state.limits[index]
        multi = CurlMulti(
            poller: thread.poller, shares: shares, maximumIdleConnections: limits.idleConnections,
            maximumConnections: ConnectionLimit(limits.connections, openFileLimit: limits.connections))
        pool = ConnectionPool(
            poller: thread.poller, shares: shares, deadlines: deadlines,
            maximumIdleConnections: limits.idleConnections,
            contexts: TLSContexts(
                state.configuration.tls,
                authorities: CertificateAuthorities(state.configuration.tls, system: .system)))
        handles = CurlHandlePool(
            state, maximumIdleHandles: limits.idleConnections, connections: multi.connections)
    }

    /// Runs on the thread: closes the connections, then ends the thread.
    isolated deinit {
        thread.end()
    }

    /// The number of active transfers.
    var transferCount: Int { transfers.count }

    /// Makes the thread perform `command`, after earlier commands.
    nonisolated func send(_ command: TransferCommand) {
        thread.send(command)
    }
}

// MARK: - The life of a transfer

extension CurlWorker {
    /// Determines what the transfer needs, then submits it.
    func begin(_ handle: TransferHandle) {
        let transfer = ActiveTransfer(
            handle, deadlines: deadlines, shares: shares, assignment: assignment,
            hasProvider: state.credentials.hasProvider)
        guard !handle.isCancelled else { return finish(transfer, .failed(.cancelled(handle.request.url))) }
        guard thread.poller.open() else {
            return finish(
                transfer, .failed(TransportError(url: handle.request.url.string, reason: .tooManyOpenFiles)))
        }
        transfers[handle.id] = transfer
        findCredential(for: transfer)
        resolve(transfer)
    }

    /// Sends the request over a connection that exists, or lets it wait for one that is being opened, or passes the
    /// transfer to libcurl, if only to open one.
    func submit(_ transfer: ActiveTransfer, addresses: [IPAddress]?, proxy: String?) {
        transfer.hasAddresses()
        let url = transfer.request.url
        transfer.showsCertificate =
            url.isSecure && state.configuration.tls.settings(for: url.host).clientCertificate != nil
        let key = takesConnections ? transfer.keyInPool(proxy: proxy) : nil
        transfer.poolKey = key
        if let key {
            switch pool.send(transfer, key) {
            case .sent, .waits: return
            case .needsConnection: break
            }
        }
        guard mayOpenConnection() else { return waitForConnection(transfer) }
        do {
            let easy = try handles.take(connectsOnly: key != nil)
            let exchange = CurlExchange(transfer, on: easy, connectsOnly: key != nil, proxy: proxy)
            try exchange.prepare(addresses: addresses, tls: state.configuration.tls)
            if transfer.request.handlesCookies { try state.cookies.open(for: easy) }
            if proxy != nil || key == nil && url.isSecure { multi.connections.floodGuard.begin() }
            try multi.add(easy)
            easy.exchange = exchange
            transfer.exchange = exchange
        } catch let failure as CurlOptionFailure {
            finish(transfer, .failed(TransportError(failure.code, url: url.string, detail: "", progress: .connecting)))
        } catch {
            finish(
                transfer,
                .failed(TransportError(url: url.string, reason: .other(code: 0), detail: "\(error)")))
        }
    }

    /// Ends a canceled transfer.
    func cancel(_ handle: TransferHandle) {
        guard let transfer = transfers[handle.id] else { return }
        finish(transfer, .failed(.cancelled(transfer.request.url)))
    }

    /// Continues a transfer that its receiver has paused.
    func resume(_ handle: TransferHandle) {
        guard let transfer = transfers[handle.id], transfer.isPaused, transfer.awaited == nil else { return }
        unpause(transfer)
    }

    /// Continues transfers that were paused to let others run.
    func resumeFairnessPauses() {
        for transfer in shares.takeWaiting() where transfer.endTurnPause() { unpause(transfer) }
    }

    private func unpause(_ transfer: ActiveTransfer) {
        // The pause of a body that is discarded must not extend its time limit.
        if transfer.clock.phase != .discarding { transfer.enter(.receiving) }
        shares.beginCall()
        guard let exchange = transfer.exchange as? CurlExchange else { return pool.resume(transfer) }
        let code = exchange.easy.unpause()
        guard code != CURLE_OK, transfers[transfer.handle.id] != nil else { return }
        // The body of a redirect or challenge is given up with an error, too.
        if !continueIfNeeded(transfer) { finish(transfer, transfer.outcome(exchange.end(code))) }
    }

    /// Ends every transfer that has finished.
    ///
    /// Receivers are notified in sequence, so that they wake other threads only once.
    func finishCompleted() {
        abortFlooded()
        while let (exchange, result) = multi.nextFinished() {
            if exchange.connectsOnly, result == CURLE_OK {
                sendOverNewConnection(exchange)
            } else {
                end(exchange.transfer, exchange.end(result))
            }
        }
        pauseConnecting()
        repeat {
            repeat {
                pool.forEachEnded(end)
                continueWaiting()
                pool.sendFrames()
            } while pool.hasNews
            for (transfer, outcome) in finished { finish(transfer, outcome) }
            finished.removeAll(keepingCapacity: true)
            // Others may have waited for the connection of one that has failed.
        } while pool.hasNews
    }

    /// Continues a transfer with the next request, or ends it.
    private func end(_ transfer: ActiveTransfer, _ end: ExchangeEnd) {
        if continueIfNeeded(transfer) { return }
        switch end {
        case .complete: multi.noteSuccess()
        case .failed(_, let condition) where transfer.mustRepeat(condition, makingRoom: multi.makeRoomForConnection):
            recycle(transfer)
            transfer.repeat(afterRefusal: condition == .ifRefused)
            return resolve(transfer)
        case .failed, .aborted: break
        }
        let outcome = transfer.outcome(end)
        recycle(transfer)
        finished.append((transfer, outcome))
    }

    /// Sends the request of a transfer for which libcurl has opened a connection.
    private func sendOverNewConnection(_ exchange: CurlExchange) {
        let transfer = exchange.transfer
        guard let key = transfer.poolKey else { return }
        switch detachConnection(of: exchange) {
        case .socket(let socket):
            do {
                return try pool.send(transfer, key, overNew: socket)
            } catch {
                return end(transfer, transfer.abortion(by: error))
            }
        case .closed:
            if transfer.isRepeated { return end(transfer, .failed(transfer.connectionError(), .never)) }
        case .refused:
            takesConnections = false
            pool.stopConnecting(transfer)
        }
        transfer.repeat()
        resolve(transfer)
    }

    /// Aborts the transfers whose connection blocked libcurl.
    private func abortFlooded() {
        for connection in multi.connections.floodGuard.removeEndedConnections() {
            for transfer in transfers.values where (transfer.exchange as? CurlExchange)?.uses(connection) == true {
                transfer.fail(.invalidResponse, detail: "endless data that belongs to no response")
            }
        }
    }

    /// Makes the next request of a transfer with an intermediate response: for a redirect, or with a credential.
    ///
    /// A redirect that the sender of the request follows itself ends the transfer.
    ///
    /// Returns `false` if the response is final.
    func continueIfNeeded(_ transfer: ActiveTransfer) -> Bool {
        guard transfer.abortReason == nil, !transfer.handle.isCancelled else { return false }
        if transfer.incoming.redirected != nil, transfer.request.followedRedirects != nil {
            finish(transfer, transfer.outcomeWithoutBody())
        } else if let next = transfer.incoming.redirected {
            transfer.learnProtocol()
            pool.stopConnecting(transfer)
            recycle(transfer)
            transfer.leaveConnections(keepsConnection: true)
            transfer.follow(next, over: state.connectionKey(of: next.url))
            findCredential(for: transfer)
            resolve(transfer)
        } else if let challenge = transfer.incoming.challenge {
            recycle(transfer)
            answer(challenge, to: transfer)
        } else {
            return false
        }
        return true
    }

    /// Ends a transfer; the only place that does.
    func finish(_ transfer: ActiveTransfer, _ outcome: TransferOutcome) {
        pool.stopConnecting(transfer)
        recycle(transfer)
        transfer.leaveConnections(keepsConnection: outcome.isComplete)
        transfers[transfer.handle.id] = nil
        if !waitingForConnection.isEmpty { waitingForConnection.removeAll { $0 == transfer.handle.id } }
        switch transfer.awaited {
        case .addresses(let host): state.dnsCache.withdraw(transfer.handle.id, from: host)
        case .credential(let key): state.credentials.leave(transfer.handle.id, key)
        case .place(let key): pool.places.withdraw(transfer.handle.id, from: key)
        case nil: break
        }
        // A canceled transfer always reports the cancellation.
        transfer.receiver.finish(transfer.handle.isCancelled ? .failed(.cancelled(transfer.request.url)) : outcome)
    }

    /// Separates a transfer from its connection and its handle.
    func recycle(_ transfer: ActiveTransfer) {
        pool.release(transfer)
        guard let exchange = transfer.exchange as? CurlExchange else { return }
        multi.remove(exchange.easy)
        returnHandle(of: exchange)
    }

    /// Takes the connection that libcurl has opened for a transfer.
    private func detachConnection(of exchange: CurlExchange) -> CurlMulti.Detachment {
        // Before libcurl can use the place of the connection for another one.
        multi.detachedCount = pool.count + 1
        defer { returnHandle(of: exchange) }
        return multi.detach(exchange.easy)
    }

    private func returnHandle(of exchange: CurlExchange) {
        exchange.transfer.exchange = nil
        handles.recycle(exchange)
    }
}

extension TransferOutcome {
    fileprivate var isComplete: Bool {
        if case .complete = self { true } else { false }
    }
}
