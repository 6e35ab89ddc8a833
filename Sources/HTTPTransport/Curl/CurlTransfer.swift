import CCurl
import HTTPTypes

/// One transfer in the hands of ``CurlTransport``: its request, which changes with redirects, and what has come so far.
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
    /// The host whose addresses the transfer waits for.
    var hostInQuestion: String?
    /// The addresses libcurl is given with the request; it has them once it has connected.
    var addressesToGive: (key: String, expiry: ContinuousClock.Instant)?
    /// The handle, while libcurl has the transfer.
    var easy: CurlEasy?
    /// Whether the hop goes through a proxy, whose own address is nobody's concern.
    var usesProxy = false
    /// Why addresses of the hop's host were passed over, as long as none was allowed.
    private var refusal: NetworkPolicy.Refusal?
    private var wasAllowed = false
    /// Why the transfer was aborted from our side, if it was.
    var abortion: Abortion?
    /// The request to make next, if the last answer was a redirect.
    private(set) var redirected: TransportRequest?
    private(set) var redirectCount = 0
    private(set) var bodyBytes = 0
    private(set) var hasHead = false
    private(set) var expectedBytes: Int?
    /// When the host's addresses were known, counted from the start.
    var resolved = Duration.zero

    /// What ends a transfer other than libcurl.
    enum Abortion {
        case stopped
        case failed(TransportError)
    }

    /// A 401 to which there may be an answer: libcurl's own by Digest, or a provider's.
    private(set) var challenge: RawResponseHead?
    /// What the transport has found for the origin, if the request has nothing of its own.
    private(set) var provided: Credential?
    /// Whether that is a provider's answer to this very transfer.
    private(set) var wasProvidedAnew = false
    /// What the transfer waits for a provider to answer.
    var credentialInQuestion: CredentialDesk.Key?
    /// Whether there is a provider.
    private let hasProvider: Bool

    /// Whether the hop is made once more, by a connection of its own.
    private var isSecondTry = false
    private var parser = ResponseHeadParser()
    private var discardedBytes = 0
    /// A redirect's own body is read up to here, to keep the connection; then the connection is given up.
    private static let discardLimit = 64 << 10

    init(_ handle: CurlTransferHandle, deadlines: DeadlineWatch, hasProvider: Bool = false) {
        self.handle = handle
        self.hasProvider = hasProvider
        self.deadlines = deadlines
        request = handle.request
        start = .now
        clock = TransferClock(request.deadlines, now: start)
        deadlines.expect(clock)
    }

    /// What takes the response.
    var receiver: any TransferReceiver { handle.receiver }

    /// What is sent to the origin.
    var credential: Credential? { request.ownCredential ?? provided }

    /// Whether a provider may be asked for a credential.
    var mayAskProvider: Bool {
        hasProvider && request.ownCredential == nil && request.headerFields[.authorization] == nil
    }

    /// Whether the receiver wants nothing for the time being.
    var isPaused: Bool { clock.phase == .paused }

    /// Sets `easy` up for the request; `addresses` are those of the host, if libcurl does not have them yet.
    func prepare(_ easy: CurlEasy, addresses: [IPAddress]?, proxy: String?, tls: TLSOptions) throws(CurlOptionFailure) {
        let url = request.url
        let isSecure = url.scheme == "https"
        easy.transfer = self
        try easy.set(CURLOPT_URL, url.string)
        try easy.set(
            CurlSettings(
                isSecure: isSecure, credential: credential, method: request.method,
                connectMilliseconds: connectMilliseconds, headerFields: request.headerFields, proxy: proxy,
                tls: isSecure ? tls.settings(for: url.host) : TLSOptions.HostSettings(),
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
        redirected = nil
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
        challenge = nil
        parser = ResponseHeadParser()
        discardedBytes = 0
        refusal = nil
        wasAllowed = false
        enter(.resolving)
    }

    /// Whether a connection to `address` may be opened.
    func mayConnect(to address: IPAddress?, by policy: NetworkPolicy) -> Bool {
        guard !usesProxy else { return true }
        guard let address else { return false }
        if let found = policy.refusal(of: address) {
            refusal = refusal ?? found
            return false
        }
        wasAllowed = true
        return true
    }

    /// Whether the connection to `address` that was chosen, and may be an old one, may be used; otherwise aborts.
    func mayUseConnection(to address: IPAddress?, by policy: NetworkPolicy) -> Bool {
        guard !usesProxy else { return true }
        guard let address else { return false }
        return policy.refusal(of: address).map { fail(.refusedByPolicy($0)) } ?? true
    }

    /// The connection stands, the request is about to be sent.
    func connected() {
        enter(.waitingForFirstByte)
    }

    /// The host's addresses are known, or need not be; connecting is counted from before.
    func hasAddresses() {
        clock.endResolving()
    }

    /// Notes progress.
    func enter(_ phase: TransferClock.Phase) {
        clock.enter(phase, now: deadlines.now)
    }

    /// One header line; false aborts.
    func receive(headerLine: Span<UInt8>) -> Bool {
        guard !handle.isCancelled else { return fail(.cancelled) }
        if challenge != nil, headerLine.beginsResponse {
            // libcurl has answered the challenge.
            challenge = nil
            parser = ResponseHeadParser()
        }
        // A head counts as one piece: dripping it line by line gains a server no time.
        if clock.phase != .receiving || headerLine.count <= 2 { enter(.receiving) }
        switch parser.append(headerLine) {
        case .needsMore: return true
        case .tooLarge: return fail(.headerTooLarge(limit: ResponseHeadParser.limit))
        case .malformed: return fail(.invalidResponse)
        case .complete(let head): return receive(head)
        }
    }

    private func receive(_ raw: RawResponseHead) -> Bool {
        if raw.status.kind == .redirection {
            do {
                redirected = try RedirectRule.next(after: raw.response, of: request, redirectCount: redirectCount)
            } catch {
                abortion = .failed(error)
                return false
            }
            guard redirected == nil else { return true }
        }
        if raw.status == .unauthorized, credential != nil || mayAskProvider {
            challenge = raw
            return true
        }
        if usesProxy, raw.status == .proxyAuthenticationRequired {
            return fail(.authenticationFailed, detail: "by the proxy")
        }
        return deliver(raw)
    }

    /// Hands the response over that came instead of what a credential would have given.
    func deliverChallenge() {
        if let challenge { _ = deliver(challenge) }
    }

    private func deliver(_ raw: RawResponseHead) -> Bool {
        let hasBody = request.method != .head && raw.status != .noContent && raw.status != .notModified
        if hasBody, let length = raw.contentLength {
            guard length <= request.bodyLimit else { return fail(.bodyTooLarge(limit: request.bodyLimit)) }
            expectedBytes = length
        }
        hasHead = true
        receiver.receive(ResponseHead(raw, url: request.url, redirectCount: redirectCount))
        return true
    }

    /// A piece of body; how much of it was taken, as libcurl wants to hear it.
    func receive(body: Span<UInt8>) -> Int {
        guard !handle.isCancelled else {
            _ = fail(.cancelled)
            return Self.abort
        }
        if redirected != nil || challenge != nil {
            enter(.receiving)
            discardedBytes += body.count
            return discardedBytes <= Self.discardLimit ? body.count : Self.abort
        }
        guard hasHead else {
            _ = fail(.invalidResponse)
            return Self.abort
        }
        guard body.count <= request.bodyLimit - bodyBytes else {
            _ = fail(.bodyTooLarge(limit: request.bodyLimit))
            return Self.abort
        }
        switch receiver.receive(body) {
        case .more:
            bodyBytes += body.count
            enter(.receiving)
            return body.count
        case .pause:
            enter(.paused)
            return Int(CURL_WRITEFUNC_PAUSE)
        case .stop:
            bodyBytes += body.count
            abortion = .stopped
            return Self.abort
        }
    }

    private func fail(_ reason: TransportError.Reason, detail: String? = nil) -> Bool {
        abortion = .failed(TransportError(url: request.url.string, reason: reason, detail: detail))
        return false
    }

    private static let abort = Int(CURL_WRITEFUNC_ERROR)

    /// Whether the server closed a connection just when the request was sent by it, so that it is to be sent once more
    /// (RFC 9112, section 9.3.1).
    ///
    /// libcurl itself takes up other old connections then, of which many may be about to be closed, and with HTTP/2 it
    /// does not always see that nothing was lost.
    func mayTryAgain(_ result: CURLcode) -> Bool {
        guard !isSecondTry, abortion == nil, !handle.isCancelled, [.get, .head].contains(request.method),
            clock.phase == .connecting || clock.phase == .waitingForFirstByte
        else { return false }
        switch result {
        case CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM: return true
        case CURLE_RECV_ERROR, CURLE_GOT_NOTHING: return easy?.long(CURLINFO_NUM_CONNECTS) == 0
        default: return false
        }
    }

    /// What the transfer's receiver is to hear, now that libcurl is done with it.
    func outcome(_ result: CURLcode) -> TransferOutcome {
        switch abortion {
        case .stopped: return .stopped(metrics())
        case .failed(let error): return .failed(error)
        case nil: break
        }
        guard result == CURLE_OK else {
            if easy?.long(CURLINFO_HTTP_CONNECTCODE) == 407 {
                return .failed(
                    TransportError(url: request.url.string, reason: .authenticationFailed, detail: "by the proxy"))
            }
            if let refusal, !wasAllowed {
                return .failed(TransportError(url: request.url.string, reason: .refusedByPolicy(refusal)))
            }
            return .failed(
                TransportError(
                    result, url: request.url.string, detail: easy?.errorDetail ?? "", progress: progress))
        }
        // libcurl is content with a head that breaks off.
        guard hasHead else { return .failed(TransportError(url: request.url.string, reason: .connectionLost)) }
        return .complete(metrics())
    }

    /// What the receiver of a response that was delivered without its body is to hear.
    func outcomeWithoutBody() -> TransferOutcome {
        if case .failed(let error)? = abortion { .failed(error) } else { .complete(metrics()) }
    }

    private var progress: TransferProgress {
        if hasHead { return .receivingBody(expected: expectedBytes, received: bodyBytes) }
        return clock.phase == .connecting ? .connecting : .waitingForHead
    }

    private func metrics() -> TransferMetrics {
        var metrics = TransferMetrics()
        metrics.resolved = resolved
        metrics.total = start.duration(to: .now)
        metrics.bodyBytes = bodyBytes
        metrics.redirectCount = redirectCount
        guard let easy else { return metrics }
        // libcurl counts from the last hop's start.
        let hop = metrics.total - easy.time(CURLINFO_TOTAL_TIME_T)
        metrics.firstByte = hop + easy.time(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.reusedConnection = easy.long(CURLINFO_NUM_CONNECTS) == 0
        if !metrics.reusedConnection {
            metrics.connected = hop + easy.time(CURLINFO_CONNECT_TIME_T)
            let secured = easy.time(CURLINFO_APPCONNECT_TIME_T)
            metrics.secured = secured > .zero ? hop + secured : .zero
        }
        switch easy.long(CURLINFO_HTTP_VERSION) {
        case Int(CURL_HTTP_VERSION_1_0): metrics.protocolName = "HTTP/1.0"
        case Int(CURL_HTTP_VERSION_2_0): metrics.protocolName = "HTTP/2"
        default: metrics.protocolName = "HTTP/1.1"
        }
        return metrics
    }
}

extension Span<UInt8> {
    /// Whether a header line is the first one of a response.
    fileprivate var beginsResponse: Bool {
        count > 5 && self[0] == UInt8(ascii: "H") && self[1] == UInt8(ascii: "T") && self[2] == UInt8(ascii: "T")
            && self[3] == UInt8(ascii: "P") && self[4] == UInt8(ascii: "/")
    }
}
