import CCurl
import HTTPTypes

/// A transfer of a ``CurlWorker``: its request, which changes with redirects, and its state.
///
/// Confined to the worker's thread; libcurl's callbacks receive its address.
@safe
final class CurlTransfer {
    /// The handle, which also keeps the worker alive during the transfer.
    let handle: CurlTransferHandle
    let start: MonotonicInstant
    /// The time when the hop's request was sent over a connection of this module, if it was.
    private var sent: MonotonicInstant?
    /// The time since which a connection must have been established that a retry shares.
    private(set) var retriesAfter: MonotonicInstant
    private(set) var request: TransportRequest
    private(set) var clock: TransferClock
    private let deadlines: DeadlineWatch
    private let shares: ThreadTimeShares
    /// A Boolean value that indicates whether the hop is paused because its time share was used up.
    private var isPausedForFairness = false
    /// A Boolean value that indicates whether the body is no longer needed.
    private(set) var discardsBody = false
    /// The host whose addresses are being looked up.
    var awaitedHost: String?
    /// The key and expiration of the addresses passed to libcurl with the request; once it has connected, libcurl has
    /// cached them.
    var pendingOverride: (key: String, expiry: MonotonicInstant)?
    /// The key of the hop's connections; `nil` if the transport has one thread only.
    var connectionKey: ConnectionKey?
    /// The easy handle, while libcurl has the transfer.
    var easy: CurlEasy?
    /// The hop's request on a connection of this module, while it has one.
    var exchange: Exchange?
    /// The key of the connections that this module uses for the hop; `nil` if libcurl performs it.
    var poolKey: ConnectionKey?
    /// The server to which a connection is opened for the hop and others that can share it.
    var openedKey: ConnectionKey?
    /// The system's error that ended the hop's connection, if there was one.
    var systemError: Int32 = 0
    /// The description of another error that ended it.
    var connectionError: String?
    /// A Boolean value that indicates whether libcurl only opens a connection for the hop, over which this module sends
    /// the request.
    private(set) var connectsOnly = false
    /// A Boolean value that indicates whether the hop uses a proxy, whose own address is not checked.
    var usesProxy = false
    /// A Boolean value that indicates whether there was no file descriptor for a connection of the hop.
    var lacksDescriptor = false
    /// A Boolean value that indicates whether a client certificate is presented to the hop's host on request.
    var showsCertificate = false
    /// The endpoints of the hop's connection, once it is established; `nil` if they are unknown.
    private var endpoints: ConnectionEndpoints?
    /// The socket of that connection, if it is known.
    private(set) var connection: FloodGuard.OpenSocket?
    /// The sockets that were opened for the hop.
    private var sockets: [FloodGuard.OpenSocket] = []
    /// The results of the address checks of the hop's host.
    var addressCheck = AddressCheck()
    /// The received part of the hop's response.
    var incoming = Incoming()
    /// The part delivered to the receiver.
    var delivered = Delivered()
    /// The reason why this module aborted the transfer, if it did.
    var abortReason: AbortReason?
    private(set) var redirectCount: Int
    /// The time from the start until the host's addresses were known.
    var resolved = Duration.zero
    /// The transport's credential for the origin, if the request has none.
    private(set) var provided: Credential?
    /// A Boolean value that indicates whether that credential is a provider's answer to this transfer.
    private(set) var isFreshlyProvided = false
    /// The key of the credential that the transfer waits for.
    var awaitedCredentialKey: CredentialStore.Key?
    /// A Boolean value that indicates whether there is a credential provider.
    private let hasProvider: Bool
    /// The maximum number of times that a request is repeated because the server has not processed it.
    static let maximumRefusals = 5
    /// A Boolean value that indicates whether the server has announced not to have processed the hop's request
    /// (RFC 9113, section 8.7).
    var wasRefused = false
    private(set) var refusalCount = 0
    /// A Boolean value that indicates whether the hop is a retry, over a new connection.
    private(set) var isRetry = false

    /// The reasons for ending a transfer other than libcurl's.
    enum AbortReason {
        case stopped
        case failed(TransportError)
    }

    init(
        _ handle: CurlTransferHandle, deadlines: DeadlineWatch, shares: ThreadTimeShares, hasProvider: Bool = false
    ) {
        self.handle = handle
        self.hasProvider = hasProvider
        self.deadlines = deadlines
        self.shares = shares
        request = handle.request
        connectionKey = handle.connectionKey
        redirectCount = request.followedRedirects ?? 0
        start = .now
        retriesAfter = start
        clock = TransferClock(request.deadlines, now: start)
        deadlines.expect(clock)
    }

    /// The receiver of the response.
    var receiver: any TransferReceiver { decoder ?? handle.receiver }
    /// The decoder of the body, if the body has a content coding.
    var decoder: ContentDecoder?

    /// The credential sent to the origin.
    var credential: Credential? { request.ownCredential ?? provided }

    /// The request with its credential, as this module sends it.
    var requestWithCredential: TransportRequest {
        guard let authorization = credential?.authorization else { return request }
        var request = request
        request.headerFields[.authorization] = authorization
        return request
    }

    /// A Boolean value that indicates whether the provider may be asked for a credential.
    var mayAskProvider: Bool {
        hasProvider && request.ownCredential == nil && request.headerFields[.authorization] == nil
    }

    /// A Boolean value that indicates whether the receiver has paused the transfer.
    var isPaused: Bool { clock.phase == .paused }

    /// Records the failure of TLS on the hop's connection.
    func fail(with failure: TLSFailure) {
        let reason: TransportError.Reason =
            switch failure.kind {
            case .rejected: .tlsFailure
            case .tooManyOpenFiles: .tooManyOpenFiles
            case .endlessData: .invalidResponse
            case .brokenOff, .unannouncedEnd: .connectionFailed
            }
        _ = fail(reason, detail: failure.kind == .tooManyOpenFiles ? nil : failure.detail)
    }

    /// Records the system's error, or the failure of TLS, that ended the hop's connection.
    func note(_ error: Int32, _ failure: TLSFailure?) {
        systemError = error
        guard let failure else { return }
        // With TLS 1.3, a server checks the client certificate after the connection counts as established.
        switch failure.kind {
        case .rejected, .endlessData, .tooManyOpenFiles: fail(with: failure)
        case .brokenOff, .unannouncedEnd: connectionError = failure.detail
        }
    }

    /// Fails the transfer with `reason`; returns `false`, the result for callbacks.
    func fail(_ reason: TransportError.Reason, detail: String? = nil) -> Bool {
        abortReason = .failed(TransportError(url: request.url.string, reason: reason, detail: detail))
        return false
    }
}

// MARK: - Hops

extension CurlTransfer {
    /// Configures `easy` for the request; `addresses` are those of the host, if libcurl does not have them yet.
    func prepare(
        _ easy: CurlEasy, connectsOnly: Bool, addresses: [IPAddress]?, proxy: String?, tls: TLSOptions
    ) throws(CurlOptionFailure) {
        let url = request.url
        easy.transfer = self
        self.connectsOnly = connectsOnly
        if connectsOnly {
            // Without TLS, which this module adds.
            try easy.set(CURLOPT_URL, "http://\(url.host):\(url.port)/")
            try easy.set(CurlSettings(connectMilliseconds: connectMilliseconds, proxy: proxy))
        } else {
            try easy.set(CURLOPT_URL, url.string)
            try easy.set(
                CurlSettings(
                    isSecure: url.isSecure, credential: credential, method: request.method,
                    connectMilliseconds: connectMilliseconds, headerFields: request.headerFields, proxy: proxy,
                    tls: url.isSecure ? tls.settings(for: url.host) : TLSOptions.HostSettings(),
                    needsNewConnection: isRetry, connectsOnly: false))
        }
        // "+": the entry expires like one of libcurl's own.
        try easy.setResolved(
            addresses.map { "+\(url.host):\(url.port):\($0.map(bracketed).joined(separator: ","))" })
    }

    private var connectMilliseconds: Int {
        let longest = Duration.seconds(24 * 3600)
        let limit = min(max(request.deadlines.connect ?? longest, .milliseconds(1)), longest)
        return Int(limit / .milliseconds(1)) + 1
    }

    private func bracketed(_ address: IPAddress) -> String { address.isIPv4 ? "\(address)" : "[\(address)]" }

    /// Continues with the redirect's target.
    func follow(_ next: TransportRequest) {
        request = next
        redirectCount += 1
        isRetry = false
        refusalCount = 0
        begin(with: nil)
    }

    /// Repeats the hop over a new connection.
    func retry() {
        isRetry = true
        if wasRefused { refusalCount += 1 }
        retriesAfter = sent ?? deadlines.now
        begin(with: provided, isNew: isFreshlyProvided)
    }

    /// Repeats the hop from its start, with the transport's credential for the origin.
    func begin(with credential: Credential?, isNew: Bool = false) {
        provided = credential
        isFreshlyProvided = isNew
        incoming = Incoming()
        wasRefused = false
        lacksDescriptor = false
        addressCheck = AddressCheck()
        endpoints = nil
        connection = nil
        sockets = []
        connectsOnly = false
        sent = nil
        systemError = 0
        connectionError = nil
        isPausedForFairness = false
        discardsBody = false
        enter(.resolving)
    }

    /// Records that the host's addresses are known or not needed; the lookup also counts as connecting.
    func hasAddresses() {
        clock.endResolving()
    }

    /// A Boolean value that indicates whether libcurl has the transfer, but no socket for it yet.
    var waitsForSocket: Bool {
        easy != nil && clock.phase == .connecting && sockets.isEmpty && !lacksDescriptor
    }

    /// A Boolean value that indicates whether the transfer has to wait until a connection is released.
    var waitsForConnection: Bool {
        easy == nil && exchange == nil && clock.phase == .connecting && awaitedHost == nil
    }

    /// Records that `socket` is about to be connected for the hop.
    func opened(_ socket: FloodGuard.OpenSocket) {
        sockets.append(socket)
    }

    /// Returns whether the hop uses `connection`, or is about to.
    func uses(_ connection: FloodGuard.EndedConnection) -> Bool {
        if let endpoints, let ended = connection.endpoints { return endpoints == ended }
        return self.connection.map { $0 == connection.socket } ?? sockets.contains(connection.socket)
    }

    /// Records that the request is about to be sent over a connection of this module.
    func sendsRequest(at now: MonotonicInstant) {
        sent = now
        endpoints = nil
        connection = nil
        enter(.waitingForFirstByte)
    }

    /// Records that libcurl has established the connection, and is about to send the request, if that is its task.
    func connected(_ endpoints: ConnectionEndpoints?, of connections: CurlConnections?) {
        self.endpoints = endpoints
        connection = endpoints.flatMap { connections?.established($0, over: sockets) }
        if !connectsOnly { enter(.waitingForFirstByte) }
    }

    /// Discards the body of an intermediate response, and limits the wait for its end.
    func discardBody() {
        enter(.discarding)
        deadlines.expect(within: TransferClock.maximumDiscardTime)
    }

    /// Returns whether the hop has used up its share, so that it must be paused until ``endTurnPause()``.
    func pausesForOthers() -> Bool {
        guard !isPausedForFairness, shares.endsTurn(of: self) else { return isPausedForFairness }
        isPausedForFairness = true
        return true
    }

    /// Returns whether the hop is still paused for its share, and starts a new one.
    func endTurnPause() -> Bool {
        defer { isPausedForFairness = false }
        return isPausedForFairness
    }

    /// Makes libcurl release the bytes that it holds because the transfer is paused, without delivering them.
    func discardPausedBytes() {
        guard isPaused || isPausedForFairness, let easy else { return }
        discardsBody = true
        _ = easy.unpause()
    }

    /// Enters `phase`, or records progress in it.
    func enter(_ phase: TransferClock.Phase) {
        clock.enter(phase, now: deadlines.now)
    }
}
