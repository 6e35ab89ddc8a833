import CCurl
import HTTPTypes

/// One transfer in the hands of ``CurlTransport``: its request, which changes with redirects, and how far it is.
///
/// Confined to the transport's thread; libcurl's callbacks reach it through its address.
@safe
final class CurlTransfer {
    /// Keeps the transport alive, too, while something is under way.
    let handle: CurlTransferHandle
    let start: ContinuousClock.Instant
    private(set) var request: TransportRequest
    private(set) var clock: TransferClock
    private let deadlines: DeadlineWatch
    private let shares: ThreadShares
    /// A Boolean value that indicates whether libcurl has paused the hop because its turn was over.
    private var waitsForTurn = false
    /// The host whose addresses the transfer waits for.
    var hostInQuestion: String?
    /// The addresses libcurl is given with the request; it has them once it has connected.
    var addressesToGive: (key: String, expiry: ContinuousClock.Instant)?
    /// The handle, while libcurl has the transfer.
    var easy: CurlEasy?
    /// A Boolean value that indicates whether the hop goes through a proxy, whose own address is nobody's concern.
    var usesProxy = false
    /// A Boolean value that indicates whether the process had no file descriptor for a connection of the hop.
    var lacksDescriptor = false
    /// A Boolean value that indicates whether the hop's host is shown a certificate of ours, if it asks.
    private(set) var showsCertificate = false
    /// What tells the hop's connection from others, once it stands.
    private var localPort: Int?
    /// The sockets that were opened for the hop.
    private var sockets: [Int32] = []
    /// Which of the addresses of the hop's host were allowed.
    var addressCheck = AddressCheck()
    /// What has come of the hop.
    var incoming = Incoming()
    /// What the receiver has got.
    var delivered = Delivered()
    /// Why the transfer was aborted from our side, if it was.
    var abortion: Abortion?
    private(set) var redirectCount = 0
    /// When the host's addresses were known, counted from the start.
    var resolved = Duration.zero
    /// What the transport has found for the origin, if the request has nothing of its own.
    private(set) var provided: Credential?
    /// A Boolean value that indicates whether that is a provider's answer to this very transfer.
    private(set) var wasProvidedAnew = false
    /// What the transfer waits for a provider to answer.
    var credentialInQuestion: CredentialDesk.Key?
    /// A Boolean value that indicates whether there is a provider.
    private let hasProvider: Bool
    /// A Boolean value that indicates whether the hop is made once more, by a connection of its own.
    private(set) var isSecondTry = false

    /// What ends a transfer other than libcurl.
    enum Abortion {
        case stopped
        case failed(TransportError)
    }

    init(
        _ handle: CurlTransferHandle, deadlines: DeadlineWatch, shares: ThreadShares, hasProvider: Bool = false
    ) {
        self.handle = handle
        self.hasProvider = hasProvider
        self.deadlines = deadlines
        self.shares = shares
        request = handle.request
        start = .now
        clock = TransferClock(request.deadlines, now: start)
        deadlines.expect(clock)
    }

    /// What takes the response.
    var receiver: any TransferReceiver { handle.receiver }

    /// What is sent to the origin.
    var credential: Credential? { request.ownCredential ?? provided }

    /// A Boolean value that indicates whether a provider may be asked for a credential.
    var mayAskProvider: Bool {
        hasProvider && request.ownCredential == nil && request.headerFields[.authorization] == nil
    }

    /// A Boolean value that indicates whether the receiver wants nothing for the time being.
    var isPaused: Bool { clock.phase == .paused }

    /// Ends the transfer by `reason`; false, as callbacks say it.
    func fail(_ reason: TransportError.Reason, detail: String? = nil) -> Bool {
        abortion = .failed(TransportError(url: request.url.string, reason: reason, detail: detail))
        return false
    }
}

// MARK: - Hops

extension CurlTransfer {
    /// Sets `easy` up for the request; `addresses` are those of the host, if libcurl does not have them yet.
    func prepare(_ easy: CurlEasy, addresses: [IPAddress]?, proxy: String?, tls: TLSOptions) throws(CurlOptionFailure) {
        let url = request.url
        let isSecure = url.isSecure
        let tls = isSecure ? tls.settings(for: url.host) : TLSOptions.HostSettings()
        showsCertificate = tls.clientCertificate != nil
        easy.transfer = self
        try easy.set(CURLOPT_URL, url.string)
        try easy.set(
            CurlSettings(
                isSecure: isSecure, credential: credential, method: request.method,
                connectMilliseconds: connectMilliseconds, headerFields: request.headerFields, proxy: proxy,
                tls: tls,
                needsNewConnection: isSecondTry))
        // "+": the entry grows old like one of libcurl's own.
        try easy.setResolved(
            addresses.map { "+\(url.host):\(url.port):\($0.map(bracketed).joined(separator: ","))" })
    }

    private var connectMilliseconds: Int {
        let longest = Duration.seconds(24 * 3600)
        let limit = min(max(request.deadlines.connect ?? longest, .milliseconds(1)), longest)
        return Int(limit / .milliseconds(1)) + 1
    }

    private func bracketed(_ address: IPAddress) -> String { address.isIPv4 ? "\(address)" : "[\(address)]" }

    /// Goes on with the redirect's target.
    func follow(_ next: TransportRequest) {
        request = next
        redirectCount += 1
        isSecondTry = false
        begin(with: nil)
    }

    /// Makes the hop once more, by a new connection.
    func tryAgain() {
        isSecondTry = true
        begin(with: provided, isNew: wasProvidedAnew)
    }

    /// Makes the hop from its beginning, with what the transport has found for the origin.
    func begin(with credential: Credential?, isNew: Bool = false) {
        provided = credential
        wasProvidedAnew = isNew
        incoming = Incoming()
        lacksDescriptor = false
        addressCheck = AddressCheck()
        localPort = nil
        sockets = []
        waitsForTurn = false
        enter(.resolving)
    }

    /// The host's addresses are known, or need not be; connecting is counted from before.
    func hasAddresses() {
        clock.endResolving()
    }

    /// `descriptor` is a socket that is about to be connected for the hop.
    func opened(_ descriptor: Int32) {
        sockets.append(descriptor)
    }

    /// A Boolean value that indicates whether `connection` is the hop's, or is about to be.
    func uses(_ connection: FloodGuard.EndedConnection) -> Bool {
        localPort.map { $0 == connection.localPort } ?? sockets.contains(connection.descriptor)
    }

    /// The connection stands, the request is about to be sent.
    func connected(localPort: Int) {
        self.localPort = localPort
        enter(.waitingForFirstByte)
    }

    /// The answer leads on: its body is of no use, and its end not waited for long.
    func discardBody() {
        enter(.discarding)
        deadlines.expect(within: TransferClock.discardLimit)
    }

    /// Returns whether the hop has had its turn, so that libcurl has to pause it until ``endTurnPause()``.
    func pausesForOthers() -> Bool {
        guard !waitsForTurn, shares.endsTurn(of: self) else { return waitsForTurn }
        waitsForTurn = true
        return true
    }

    /// Returns whether the hop still waits for its turn, which begins.
    func endTurnPause() -> Bool {
        defer { waitsForTurn = false }
        return waitsForTurn
    }

    /// Notes progress.
    func enter(_ phase: TransferClock.Phase) {
        clock.enter(phase, now: deadlines.now)
    }
}
