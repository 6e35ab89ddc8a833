import CCurl
import Synchronization

/// HTTP/1.1 and HTTP/2 over libcurl's multi interface.
///
/// An actor whose executor is the one thread that libcurl runs on, so that its callbacks are already inside the actor.
/// The thread ends, and all connections are closed, when nobody holds the transport and no transfer is under way.
public actor CurlTransport: Transport {
    /// What is the same for all transfers.
    public struct Configuration: Sendable {
        /// Most connections that are kept for reuse.
        ///
        /// Not below the number of transfers at a time, or connections are closed that are needed again at once.
        public var connectionCacheSize: Int
        /// Whether to use a proxy.
        ///
        /// The environment's, unless told otherwise.
        public var proxy: ProxyRule
        /// Whom to trust, and who we are.
        public var tls: TLSOptions

        /// What finds the addresses of hosts: the system, unless told otherwise.
        ///
        /// What is left to a proxy is not asked for here. Copies of a configuration share it.
        public var resolver: any HostResolver
        /// Who may be talked to: everybody, unless told otherwise.
        public var policy: NetworkPolicy

        /// What is asked for credentials that requests do not bring along themselves; nil if nobody is.
        public var credentials: (any CredentialProvider)?

        /// A file of cookies to begin with (Netscape's format, as browsers and curl write it); nil for none.
        ///
        /// Only requests with ``TransportRequest/handlesCookies`` use the transport's cookies, which are kept in memory.
        public var cookieFile: String?

        /// 256 idle connections, the environment's proxy, the system's certificate authorities.
        public init(
            connectionCacheSize: Int = 256, proxy: ProxyRule = .environment, tls: TLSOptions = TLSOptions(),
            policy: NetworkPolicy = NetworkPolicy(), resolver: any HostResolver = ThreadedResolver(),
            credentials: (any CredentialProvider)? = nil, cookieFile: String? = nil
        ) {
            self.connectionCacheSize = connectionCacheSize
            self.proxy = proxy
            self.tls = tls
            self.policy = policy
            self.resolver = resolver
            self.credentials = credentials
            self.cookieFile = cookieFile
        }
    }

    /// As many idle handles are kept as connections.
    private var idleHandleLimit: Int { configuration.connectionCacheSize }

    let configuration: Configuration
    /// Nil if there is nothing to judge.
    private let policy: NetworkPolicy?
    private let thread: CurlThread
    private let addressBook: AddressBook
    private let multi: CurlMulti
    private let nextID = Atomic<UInt64>(0)
    private(set) var transfers: [UInt64: CurlTransfer] = [:]
    var credentialDesk = CredentialDesk()
    private var idleHandles: [CurlEasy] = []
    /// From the first request on that handles cookies.
    private var cookieJar: CookieJar?
    /// Transfers that libcurl is done with and whose receivers have yet to hear of it.
    private var settled: [(CurlTransfer, TransferOutcome)] = []
    private let deadlines = DeadlineWatch()
    /// The addresses that libcurl was given, by host and port, and how long they are good for.
    private var givenAddresses: [String: ContinuousClock.Instant] = [:]
    private static let givenAddressLimit = 10_000

    /// The thread libcurl runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// A transport with a thread and a pool of connections of its own.
    public init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, whenThreadEnded: {})
    }

    init(configuration: Configuration, whenThreadEnded: @escaping @Sendable () -> Void) {
        _ = CurlLibrary.initialized
        self.configuration = configuration
        policy = configuration.policy.allowsAll ? nil : configuration.policy
        addressBook = AddressBook(resolver: configuration.resolver)
        thread = CurlThread()
        multi = CurlMulti(poller: thread.poller, connectionCacheSize: configuration.connectionCacheSize)
        thread.start(driver: self, whenEnded: whenThreadEnded)
    }

    /// On the thread: it closes the connections, then ends.
    isolated deinit {
        thread.end()
    }

    /// Starts a transfer at once; see ``Transport/start(_:receiver:)``.
    public nonisolated func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let handle = CurlTransferHandle(
            transport: self, id: nextID.wrappingAdd(1, ordering: .relaxed).newValue, request: request,
            receiver: receiver)
        thread.send(.begin(handle))
        return handle
    }

    /// How many transfers are under way.
    public var transferCount: Int { transfers.count }

    /// Asks the thread to carry out `command`, after what was asked of it before.
    nonisolated func send(_ command: Command) {
        thread.send(command)
    }
}

// MARK: - Commands

extension CurlTransport {
    /// What other threads ask of the transport's.
    ///
    /// Values in the thread's inbox rather than jobs of the actor: a transfer begins and ends without a task.
    enum Command: Sendable {
        case begin(CurlTransferHandle)
        case cancel(CurlTransferHandle)
        case resume(CurlTransferHandle)
        case resolved(UInt64, host: String, AddressBook.Answer)
    }

    nonisolated func carryOut(_ command: Command) {
        assumeIsolated { transport in
            switch command {
            case .begin(let handle): transport.begin(handle)
            case .cancel(let handle): transport.cancel(handle)
            case .resume(let handle): transport.resume(handle)
            case .resolved(let id, let host, let answer): transport.resolved(id, host, answer)
            }
        }
    }
}

// MARK: - The life of a transfer

extension CurlTransport {
    private func begin(_ handle: CurlTransferHandle) {
        let transfer = CurlTransfer(
            handle, deadlines: deadlines, hasProvider: configuration.credentials != nil)
        guard !handle.isCancelled else { return finish(transfer, .failed(.cancelled(handle.request.url))) }
        transfers[handle.id] = transfer
        findCredential(for: transfer)
        resolve(transfer)
    }

    /// Finds the host's addresses, then hands the transfer to libcurl.
    func resolve(_ transfer: CurlTransfer) {
        let url = transfer.request.url
        let proxy = configuration.proxy.proxy(for: url)
        if let refusal = policy?.refusal(of: url, throughProxy: proxy != nil) {
            return finish(transfer, .failed(TransportError(url: url.string, reason: .refusedByPolicy(refusal))))
        }
        transfer.usesProxy = proxy != nil
        // A proxy resolves names itself.
        if proxy != nil || isNumericAddress(url.host) { return hand(transfer, addresses: nil, proxy: proxy) }
        if let answer = addressBook.knownAnswer(for: url.host) { return proceed(transfer, answer) }
        let id = transfer.handle.id
        transfer.hostInQuestion = url.host
        addressBook.resolve(url.host, for: id) { [weak self] answer in
            self?.send(.resolved(id, host: url.host, answer))
        }
    }

    private func resolved(_ id: UInt64, _ host: String, _ answer: AddressBook.Answer) {
        guard let transfer = transfers[id], transfer.hostInQuestion == host else { return }
        transfer.hostInQuestion = nil
        transfer.resolved = transfer.start.duration(to: .now)
        proceed(transfer, answer)
    }

    private func proceed(_ transfer: CurlTransfer, _ answer: AddressBook.Answer) {
        switch answer {
        case .success(let addresses):
            hand(transfer, addresses: addresses, proxy: nil)
        case .failure(let failure):
            let url = transfer.request.url
            finish(
                transfer,
                .failed(
                    TransportError(
                        url: url.string, reason: .hostNotFound, detail: "\(url.host): \(failure.message)")))
        }
    }

    private func hand(_ transfer: CurlTransfer, addresses: AddressBook.Addresses?, proxy: String?) {
        transfer.hasAddresses()
        let url = transfer.request.url
        do {
            let easy = try idleHandles.popLast() ?? newHandle()
            try transfer.prepare(
                easy, addresses: addresses.flatMap { news($0, for: transfer) }, proxy: proxy, tls: configuration.tls)
            if transfer.request.handlesCookies { try openCookieJar(for: easy) }
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

    /// What libcurl does not know yet: its cache serves all transfers, and parsing a list again costs.
    private func news(_ addresses: AddressBook.Addresses, for transfer: CurlTransfer) -> [IPAddress]? {
        let key = "\(transfer.request.url.host):\(transfer.request.url.port)"
        if givenAddresses[key] == addresses.expiry { return nil }
        transfer.addressesToGive = (key, addresses.expiry)
        return addresses.list
    }

    private func noteGivenAddresses(of transfer: CurlTransfer) {
        guard let (key, expiry) = transfer.addressesToGive else { return }
        transfer.addressesToGive = nil
        guard transfer.clock.phase != .connecting else { return }
        if givenAddresses.count >= Self.givenAddressLimit { givenAddresses.removeAll() }
        givenAddresses[key] = expiry
    }

    private func newHandle() throws(CurlOptionFailure) -> CurlEasy {
        let easy = try CurlEasy(configuration)
        try easy.setCallbacks()
        try easy.announceConnections(to: thread.poller)
        return easy
    }

    private func openCookieJar(for easy: CurlEasy) throws(CurlOptionFailure) {
        if cookieJar == nil { cookieJar = try CookieJar(file: configuration.cookieFile) }
        try cookieJar?.open(for: easy)
    }

    private func cancel(_ handle: CurlTransferHandle) {
        guard let transfer = transfers[handle.id] else { return }
        finish(transfer, .failed(.cancelled(transfer.request.url)))
    }

    private func resume(_ handle: CurlTransferHandle) {
        guard let transfer = transfers[handle.id], transfer.isPaused, let easy = transfer.easy else { return }
        transfer.enter(.receiving)
        let code = easy.unpause()
        if code != CURLE_OK, transfers[handle.id] != nil { finish(transfer, transfer.outcome(code)) }
    }

    /// Settles every transfer libcurl is done with.
    ///
    /// Receivers hear of it one right after the other, so that they wake others once for all.
    private func settleFinished() {
        while let (transfer, result) = multi.nextFinished() {
            if let next = transfer.redirected, transfer.abortion == nil, !transfer.handle.isCancelled {
                giveBack(transfer)
                transfer.follow(next)
                findCredential(for: transfer)
                resolve(transfer)
            } else if let challenge = transfer.challenge, transfer.abortion == nil, !transfer.handle.isCancelled {
                giveBack(transfer)
                answer(challenge, to: transfer)
            } else if result != CURLE_OK, transfer.mayTryAgain(result) {
                giveBack(transfer)
                transfer.tryAgain()
                resolve(transfer)
            } else {
                let outcome = transfer.outcome(result)
                giveBack(transfer)
                settled.append((transfer, outcome))
            }
        }
        for (transfer, outcome) in settled { finish(transfer, outcome) }
        settled.removeAll(keepingCapacity: true)
    }

    /// The one way out of a transfer.
    func finish(_ transfer: CurlTransfer, _ outcome: TransferOutcome) {
        giveBack(transfer)
        transfers[transfer.handle.id] = nil
        if let host = transfer.hostInQuestion { addressBook.withdraw(transfer.handle.id, from: host) }
        if let key = transfer.credentialInQuestion { credentialDesk.leave(transfer.handle.id, key) }
        // Whoever cancelled has been promised to hear so.
        transfer.receiver.finish(transfer.handle.isCancelled ? .failed(.cancelled(transfer.request.url)) : outcome)
    }

    private func giveBack(_ transfer: CurlTransfer) {
        guard let easy = transfer.easy else { return }
        multi.remove(easy)
        easy.transfer = nil
        transfer.easy = nil
        noteGivenAddresses(of: transfer)
        // libcurl keeps a server's challenge in the handle, and would answer it to the next server; nor shall cookies be
        // sent where nobody asked for them.
        let isClean = transfer.credential?.isNegotiated != true && easy.jar == nil
        if isClean, idleHandles.count < idleHandleLimit { idleHandles.append(easy) }
    }
}

// MARK: - Deadlines

extension CurlTransport {
    private func expireOverdue() {
        for (transfer, kind) in deadlines.overdue(transfers.values) {
            finish(transfer, .failed(TransportError(url: transfer.request.url.string, reason: .timedOut(kind))))
        }
    }
}

// MARK: - The thread's turns

extension CurlTransport: CurlThreadDriver {
    nonisolated func sleepLimit() -> Duration? {
        assumeIsolated { transport in
            // Commands may have added transfers, which start with the timers.
            transport.multi.runTimers(now: transport.deadlines.now)
            transport.settleFinished()
            transport.deadlines.beginTurn()
            let now = transport.deadlines.now
            let waits = [transport.multi.timer?.wait(from: now), transport.deadlines.next.map { now.duration(to: $0) }]
            return waits.compactMap { $0 }.min().map { max(.zero, $0) }
        }
    }

    nonisolated func handle(eventCount: Int) {
        assumeIsolated { transport in
            transport.deadlines.beginTurn()
            transport.thread.poller.deliver(eventCount, to: transport.multi.handle)
            transport.multi.runTimers(now: transport.deadlines.now)
            transport.settleFinished()
            transport.expireOverdue()
        }
    }
}

extension TransportError {
    fileprivate static func cancelled(_ url: HTTPURL) -> TransportError {
        TransportError(url: url.string, reason: .cancelled)
    }
}

/// libcurl's process-wide set-up.
private enum CurlLibrary {
    static let initialized: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
