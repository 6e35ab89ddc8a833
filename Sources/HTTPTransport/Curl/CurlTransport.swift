import CCurl
import SocketPolling
import Synchronization
import Threading

/// A transport for HTTP/1.1 and HTTP/2 based on libcurl's multi interface.
///
/// The actor's executor is the thread on which libcurl runs, so that libcurl's callbacks are isolated to the actor. The
/// thread ends, and all connections are closed, when the transport is released and no transfer is active.
public actor CurlTransport: Transport {
    let configuration: Configuration
    /// The network policy; `nil` if it has no rules.
    let policy: NetworkPolicy?
    let thread: CurlThread
    let dnsCache: DNSCache
    let multi: CurlMulti
    private let nextID = Atomic<UInt64>(0)
    private(set) var transfers: [UInt64: CurlTransfer] = [:]
    var credentialStore = CredentialStore()
    private let handles: CurlHandlePool
    /// Finished transfers whose receivers have not been notified yet.
    private var finished: [(CurlTransfer, TransferOutcome)] = []
    let deadlines = DeadlineWatch()
    let shares = ThreadTimeShares()
    private var resolveOverrides = ResolveOverrides()

    /// The executor: the thread on which libcurl runs.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// Creates a transport with its own thread and connection pool.
    public init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, poller: PlatformPoller.self)
    }

    init(
        configuration: Configuration, poller: any SystemPoller.Type = PlatformPoller.self,
        dnsCache: DNSCache? = nil, whenThreadEnded: @escaping @Sendable () -> Void = {}
    ) {
        _ = CurlLibrary.initialized
        _ = RuntimeTimer.opening
        self.configuration = configuration
        policy = configuration.policy.allowsAll ? nil : configuration.policy
        self.dnsCache = dnsCache ?? DNSCache(resolver: configuration.resolver)
        thread = CurlThread(poller: EventPoller(poller))
        multi = CurlMulti(
            poller: thread.poller, shares: shares, maximumIdleConnections: configuration.maximumIdleConnections,
            maximumConnections: ConnectionLimit(
                configuration.maximumConnections, openFileLimit: OpenFileLimit.current))
        handles = CurlHandlePool(configuration, connections: multi.connections)
        thread.start(driver: self, whenEnded: whenThreadEnded)
    }

    /// Runs on the thread: closes the connections, then ends the thread.
    isolated deinit {
        thread.end()
    }

    /// Starts a transfer immediately; see ``Transport/start(_:receiver:)``.
    public nonisolated func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let handle = CurlTransferHandle(
            transport: self, id: nextID.wrappingAdd(1, ordering: .relaxed).newValue, request: request,
            receiver: receiver)
        thread.send(.begin(handle))
        return handle
    }

    /// The number of active transfers.
    package var transferCount: Int { transfers.count }

    /// Makes the thread perform `command`, after earlier commands.
    nonisolated func send(_ command: Command) {
        thread.send(command)
    }
}

// MARK: - The life of a transfer

extension CurlTransport {
    /// Determines what the transfer needs, then passes it to libcurl.
    func begin(_ handle: CurlTransferHandle) {
        let transfer = CurlTransfer(
            handle, deadlines: deadlines, shares: shares, hasProvider: configuration.credentialProvider != nil)
        guard !handle.isCancelled else { return finish(transfer, .failed(.cancelled(handle.request.url))) }
        guard thread.poller.open() else {
            return finish(
                transfer, .failed(TransportError(url: handle.request.url.string, reason: .tooManyOpenFiles)))
        }
        transfers[handle.id] = transfer
        findCredential(for: transfer)
        resolve(transfer)
    }

    /// Passes the transfer to libcurl.
    func submit(_ transfer: CurlTransfer, addresses: DNSCache.Addresses?, proxy: String?) {
        transfer.hasAddresses()
        let url = transfer.request.url
        do {
            let easy = try handles.take()
            try transfer.prepare(
                easy, addresses: addresses.flatMap { resolveOverrides.updates($0, for: transfer) }, proxy: proxy,
                tls: configuration.tls)
            if transfer.request.handlesCookies { try handles.openCookieJar(for: easy) }
            if url.isSecure || proxy != nil { multi.connections.floodGuard.begin() }
            try multi.add(easy)
            transfer.easy = easy
        } catch let failure as CurlOptionFailure {
            finish(transfer, .failed(TransportError(failure.code, url: url.string, detail: "", progress: .connecting)))
        } catch {
            finish(
                transfer,
                .failed(TransportError(url: url.string, reason: .other(code: 0), detail: "\(error)")))
        }
    }

    /// Ends a canceled transfer.
    func cancel(_ handle: CurlTransferHandle) {
        guard let transfer = transfers[handle.id] else { return }
        finish(transfer, .failed(.cancelled(transfer.request.url)))
    }

    /// Continues a transfer that its receiver has paused.
    func resume(_ handle: CurlTransferHandle) {
        guard let transfer = transfers[handle.id], transfer.isPaused else { return }
        unpause(transfer)
    }

    /// Continues transfers that were paused to let others run.
    func resumeFairnessPauses() {
        for transfer in shares.takeWaiting() where transfer.endTurnPause() { unpause(transfer) }
    }

    private func unpause(_ transfer: CurlTransfer) {
        guard let easy = transfer.easy else { return }
        transfer.enter(.receiving)
        shares.beginCall()
        let code = easy.unpause()
        if code != CURLE_OK, transfers[transfer.handle.id] != nil { finish(transfer, transfer.outcome(code)) }
    }

    /// Ends every transfer that libcurl has finished.
    ///
    /// Receivers are notified in sequence, so that they wake other threads only once.
    func finishCompleted() {
        abortFlooded()
        while let (transfer, result) = multi.nextFinished() {
            if continueIfNeeded(transfer) { continue }
            if result == CURLE_OK { multi.noteSuccess() }
            if result != CURLE_OK, transfer.shouldRetryConnection(result, makingRoom: multi.makeRoomForConnection) {
                recycle(transfer)
                transfer.retry()
                resolve(transfer)
            } else {
                let outcome = transfer.outcome(result)
                recycle(transfer)
                finished.append((transfer, outcome))
            }
        }
        for (transfer, outcome) in finished { finish(transfer, outcome) }
        finished.removeAll(keepingCapacity: true)
    }

    /// Aborts the transfers whose connection blocked libcurl.
    private func abortFlooded() {
        for connection in multi.connections.floodGuard.removeEndedConnections() {
            for transfer in transfers.values where transfer.uses(connection) {
                _ = transfer.fail(.invalidResponse, detail: "endless data that belongs to no response")
            }
        }
    }

    /// Makes the next request of a transfer with an intermediate response: for a redirect, or with a credential.
    ///
    /// A redirect that the sender of the request follows itself ends the transfer.
    ///
    /// Returns `false` if the response is final.
    func continueIfNeeded(_ transfer: CurlTransfer) -> Bool {
        guard transfer.abortReason == nil, !transfer.handle.isCancelled else { return false }
        if transfer.incoming.redirected != nil, transfer.request.followedRedirects != nil {
            finish(transfer, transfer.outcomeWithoutBody())
        } else if let next = transfer.incoming.redirected {
            recycle(transfer)
            transfer.follow(next)
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
    func finish(_ transfer: CurlTransfer, _ outcome: TransferOutcome) {
        recycle(transfer)
        transfers[transfer.handle.id] = nil
        if let host = transfer.awaitedHost { dnsCache.withdraw(transfer.handle.id, from: host) }
        if let key = transfer.awaitedCredentialKey { credentialStore.leave(transfer.handle.id, key) }
        // A canceled transfer always reports the cancellation.
        transfer.receiver.finish(transfer.handle.isCancelled ? .failed(.cancelled(transfer.request.url)) : outcome)
    }

    private func recycle(_ transfer: CurlTransfer) {
        guard let easy = transfer.easy else { return }
        multi.remove(easy)
        transfer.easy = nil
        resolveOverrides.note(transfer)
        handles.recycle(easy)
    }
}

/// Process-wide initialization of libcurl.
private enum CurlLibrary {
    static let initialized: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
