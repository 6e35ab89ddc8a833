import CCurl
import Synchronization

/// HTTP/1.1 and HTTP/2 over libcurl's multi interface.
///
/// An actor whose executor is the one thread that libcurl runs on, so that its callbacks are already inside the actor.
/// The thread ends, and all connections are closed, when nobody holds the transport and no transfer is under way.
public actor CurlTransport: Transport {
    /// What is the same for all transfers.
    public struct Configuration: Sendable {
        /// Most idle connections that are kept for reuse.
        public var connectionCacheSize: Int
        /// Whether to use a proxy.
        ///
        /// The environment's, unless told otherwise.
        public var proxy: ProxyRule
        /// A file of certificate authorities (PEM) to trust instead of the system's.
        public var certificateAuthorityFile: String?

        /// 256 idle connections, the environment's proxy, the system's certificate authorities.
        public init(
            connectionCacheSize: Int = 256, proxy: ProxyRule = .environment, certificateAuthorityFile: String? = nil
        ) {
            self.connectionCacheSize = connectionCacheSize
            self.proxy = proxy
            self.certificateAuthorityFile = certificateAuthorityFile
        }
    }

    /// How many idle easy handles are kept, and how much time passes at least between two looks at all deadlines.
    private static let idleHandleLimit = 128
    private static let deadlineGranularity = Duration.milliseconds(10)

    private let configuration: Configuration
    private let thread: CurlThread
    private let resolver: HostResolver
    private let multi: CurlMulti
    private let nextID = Atomic<UInt64>(0)
    private var transfers: [UInt64: CurlTransfer] = [:]
    private var idleHandles: [CurlEasy] = []
    private var nextDeadlineCheck: ContinuousClock.Instant?

    /// The thread libcurl runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// A transport with a thread and a pool of connections of its own.
    public init(configuration: Configuration = Configuration()) {
        self.init(configuration: configuration, resolver: HostResolver())
    }

    init(configuration: Configuration, resolver: HostResolver) {
        _ = CurlLibrary.initialized
        self.configuration = configuration
        self.resolver = resolver
        thread = CurlThread()
        multi = CurlMulti(poller: thread.poller, connectionCacheSize: configuration.connectionCacheSize)
        thread.start(driver: self)
    }

    deinit {
        thread.wake()
    }

    /// Starts a transfer at once; see ``Transport/start(_:receiver:)``.
    public nonisolated func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let id = nextID.wrappingAdd(1, ordering: .relaxed).newValue
        thread.perform { self.assumeIsolated { $0.begin(id, request, receiver) } }
        return Handle(transport: self, id: id)
    }

    /// How many transfers are under way.
    public var transferCount: Int { transfers.count }

    private final class Handle: Transfer {
        private let transport: CurlTransport
        private let id: UInt64

        init(transport: CurlTransport, id: UInt64) {
            self.transport = transport
            self.id = id
        }

        func cancel() {
            transport.thread.perform { [transport, id] in transport.assumeIsolated { $0.cancel(id) } }
        }

        func resume() {
            transport.thread.perform { [transport, id] in transport.assumeIsolated { $0.resume(id) } }
        }
    }
}

// MARK: - The life of a transfer

extension CurlTransport {
    private func begin(_ id: UInt64, _ request: TransportRequest, _ receiver: any TransferReceiver) {
        let transfer = CurlTransfer(id: id, request: request, receiver: receiver, transport: self)
        transfers[id] = transfer
        expectDeadline(of: transfer)
        resolve(transfer)
    }

    /// Finds the host's addresses, then hands the transfer to libcurl.
    private func resolve(_ transfer: CurlTransfer) {
        let url = transfer.request.url
        let proxy = configuration.proxy.proxy(for: url)
        // A proxy resolves names itself.
        if proxy != nil || isNumericAddress(url.host) { return hand(transfer, addresses: nil, proxy: proxy) }
        if let addresses = resolver.knownAddresses(of: url.host) {
            return hand(transfer, addresses: addresses, proxy: nil)
        }
        let id = transfer.id
        let hop = transfer.redirectCount
        resolver.resolve(url.host) { [weak self] answer in
            guard let self else { return }
            self.thread.perform { self.assumeIsolated { $0.resolved(id, hop: hop, answer) } }
        }
    }

    private func resolved(_ id: UInt64, hop: Int, _ answer: HostResolver.Answer) {
        guard let transfer = transfers[id], transfer.redirectCount == hop, transfer.easy == nil else { return }
        switch answer {
        case .success(let addresses):
            transfer.resolved = transfer.start.duration(to: .now)
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

    private func hand(_ transfer: CurlTransfer, addresses: [String]?, proxy: String?) {
        do {
            let easy = try idleHandles.popLast() ?? newHandle()
            try transfer.prepare(easy, addresses: addresses, proxy: proxy)
            try multi.add(easy)
            transfer.easy = easy
        } catch let failure as CurlOptionFailure {
            let url = transfer.request.url.string
            finish(
                transfer,
                .failed(TransportError(failure.code, url: url, detail: "", expectedBytes: nil, receivedBytes: 0)))
        } catch {
            let reason = TransportError.Reason.other(code: 0)
            finish(
                transfer, .failed(TransportError(url: transfer.request.url.string, reason: reason, detail: "\(error)")))
        }
    }

    private func newHandle() throws(CurlOptionFailure) -> CurlEasy {
        let easy = try CurlEasy(configuration)
        try easy.setCallbacks()
        return easy
    }

    private func cancel(_ id: UInt64) {
        guard let transfer = transfers[id] else { return }
        finish(transfer, .failed(TransportError(url: transfer.request.url.string, reason: .cancelled)))
    }

    private func resume(_ id: UInt64) {
        guard let transfer = transfers[id], transfer.clock.phase == .paused, let easy = transfer.easy else { return }
        transfer.clock.enter(.receiving, now: .now)
        expectDeadline(of: transfer)
        let code = easy.unpause()
        if code != CURLE_OK, transfers[id] != nil { finish(transfer, transfer.outcome(code)) }
    }

    /// Settles every transfer libcurl is done with.
    private func settleFinished() {
        while let (address, result) = unsafe multi.nextFinished() {
            let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(address).takeUnretainedValue()
            if let next = transfer.redirected, transfer.abortion == nil {
                giveBack(transfer)
                transfer.follow(next)
                expectDeadline(of: transfer)
                resolve(transfer)
            } else {
                finish(transfer, transfer.outcome(result))
            }
        }
    }

    /// The one way out of a transfer.
    private func finish(_ transfer: CurlTransfer, _ outcome: TransferOutcome) {
        giveBack(transfer)
        transfers[transfer.id] = nil
        transfer.receiver.finish(outcome)
    }

    private func giveBack(_ transfer: CurlTransfer) {
        guard let easy = transfer.easy else { return }
        multi.remove(easy)
        transfer.easy = nil
        if idleHandles.count < Self.idleHandleLimit { idleHandles.append(easy) }
    }
}

// MARK: - Deadlines

extension CurlTransport {
    private func expectDeadline(of transfer: CurlTransfer) {
        guard let deadline = transfer.clock.next?.instant else { return }
        expectDeadline(at: deadline)
    }

    /// Looks after deadlines at `instant` at the latest.
    func expectDeadline(at instant: ContinuousClock.Instant) {
        nextDeadlineCheck = min(nextDeadlineCheck ?? instant, instant)
    }

    private func expireOverdue() {
        let now = ContinuousClock.now
        guard let check = nextDeadlineCheck, check <= now else { return }
        var earliest: ContinuousClock.Instant?
        var overdue: [(CurlTransfer, Deadlines.Kind)] = []
        for transfer in transfers.values {
            guard let next = transfer.clock.next else { continue }
            if next.instant <= now {
                overdue.append((transfer, next.kind))
            } else {
                earliest = min(earliest ?? next.instant, next.instant)
            }
        }
        nextDeadlineCheck = earliest.map { max($0, now + Self.deadlineGranularity) }
        for (transfer, kind) in overdue {
            finish(transfer, .failed(TransportError(url: transfer.request.url.string, reason: .timedOut(kind))))
        }
    }
}

// MARK: - The thread's turns

extension CurlTransport: CurlThreadDriver {
    nonisolated func sleepLimit() -> Duration? {
        assumeIsolated { transport in
            // Work may have added transfers, which start with the timers.
            transport.multi.runTimers()
            transport.settleFinished()
            let wanted = [transport.multi.timer, transport.nextDeadlineCheck].compactMap { $0 }.min()
            return wanted.map { max(.zero, ContinuousClock.now.duration(to: $0)) }
        }
    }

    nonisolated func handle(_ event: EventPoller.Event) {
        assumeIsolated { $0.multi.handle(event) }
    }

    nonisolated func finishTurn() {
        assumeIsolated { transport in
            transport.multi.runTimers()
            transport.settleFinished()
            transport.expireOverdue()
        }
    }
}

/// libcurl's process-wide set-up.
private enum CurlLibrary {
    static let initialized: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
