import CCurl
import HTTPTypes

/// One transfer in the hands of ``CurlTransport``: its request, which changes with redirects, and what has come so far.
///
/// Confined to the transport's thread; libcurl's callbacks reach it through its address.
@safe
final class CurlTransfer {
    let id: UInt64
    let receiver: any TransferReceiver
    let start: ContinuousClock.Instant
    /// Keeps the transport alive while something is under way.
    let transport: CurlTransport
    var request: TransportRequest
    var clock: TransferClock
    /// The handle, while libcurl has the transfer.
    var easy: CurlEasy?
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

    private var parser = ResponseHeadParser()
    private var discardedBytes = 0
    /// A redirect's own body is read up to here, to keep the connection; then the connection is given up.
    private static let discardLimit = 64 << 10

    init(id: UInt64, request: TransportRequest, receiver: any TransferReceiver, transport: CurlTransport) {
        self.id = id
        self.request = request
        self.receiver = receiver
        self.transport = transport
        start = .now
        clock = TransferClock(request.deadlines, now: start)
    }

    /// Sets `easy` up for the request; `addresses` are those of the host, if it had to be looked up.
    func prepare(_ easy: CurlEasy, addresses: [String]?, proxy: String?) throws(CurlOptionFailure) {
        easy.clear()
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe try easy.setTransfer(this)
        try easy.set(CURLOPT_URL, request.url.string)
        // Where TLS may agree on HTTP/2 a transfer waits for a connection that may turn out to be shareable. Without
        // TLS none will, and libcurl would let it wait until the first answer has come whole.
        try easy.set(CURLOPT_PIPEWAIT, request.url.scheme == "https" ? 1 : 0)
        try easy.set(CURLOPT_USERNAME, request.url.user)
        try easy.set(CURLOPT_PASSWORD, request.url.password)
        try easy.set(CURLOPT_NOBODY, request.method == .head ? 1 : 0)
        if request.method != .head { try easy.set(CURLOPT_HTTPGET, 1) }
        try easy.set(
            CURLOPT_CUSTOMREQUEST, request.method == .get || request.method == .head ? nil : request.method.rawValue)
        try easy.set(CURLOPT_HTTPHEADER, request.headerFields.map { "\($0.name.rawName): \($0.value)" })
        // "+": the entry grows old like one of libcurl's own.
        let hosts = addresses.map {
            ["+\(request.url.host):\(request.url.port):\($0.map(bracketed).joined(separator: ","))"]
        }
        try easy.set(CURLOPT_RESOLVE, hosts ?? [])
        // An empty string, unlike nil, also keeps libcurl from looking into the environment.
        try easy.set(CURLOPT_PROXY, proxy ?? "")
    }

    private func bracketed(_ address: String) -> String { address.contains(":") ? "[\(address)]" : address }

    /// Goes on with the redirect's target.
    func follow(_ next: TransportRequest) {
        request = next
        redirected = nil
        redirectCount += 1
        parser = ResponseHeadParser()
        discardedBytes = 0
        clock.enter(.connecting, now: .now)
    }

    /// The connection stands, the request is about to be sent.
    func connected() {
        enter(.waitingForFirstByte)
    }

    /// Notes progress, and has the transport look at the new phase's deadline in time.
    private func enter(_ phase: TransferClock.Phase) {
        let isNew = clock.phase != phase
        clock.enter(phase, now: .now)
        guard isNew, let deadline = clock.next?.instant else { return }
        transport.assumeIsolated { $0.expectDeadline(at: deadline) }
    }

    /// One header line; false aborts.
    func receive(headerLine: Span<UInt8>) -> Bool {
        enter(.receiving)
        switch parser.append(headerLine) {
        case .needsMore: return true
        case .tooLarge: return fail(.headerTooLarge(limit: ResponseHeadParser.limit))
        case .malformed: return fail(.invalidResponse)
        case .complete(let response): return receive(response)
        }
    }

    private func receive(_ response: HTTPResponse) -> Bool {
        do {
            redirected = try RedirectRule.next(after: response, of: request, redirectCount: redirectCount)
        } catch {
            abortion = .failed(error)
            return false
        }
        guard redirected == nil else { return true }
        let head = ResponseHead(response: response, url: request.url, redirectCount: redirectCount)
        if request.method != .head, let length = head.contentLength {
            guard length <= request.bodyLimit else { return fail(.bodyTooLarge(limit: request.bodyLimit)) }
            expectedBytes = length
        }
        hasHead = true
        receiver.receive(head)
        return true
    }

    /// A piece of body; how much of it was taken, as libcurl wants to hear it.
    func receive(body: Span<UInt8>) -> Int {
        if redirected != nil {
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

    private func fail(_ reason: TransportError.Reason) -> Bool {
        abortion = .failed(TransportError(url: request.url.string, reason: reason))
        return false
    }

    private static let abort = Int(CURL_WRITEFUNC_ERROR)

    /// What the transfer's receiver is to hear, now that libcurl is done with it.
    func outcome(_ result: CURLcode) -> TransferOutcome {
        switch abortion {
        case .stopped: return .stopped(metrics())
        case .failed(let error): return .failed(error)
        case nil: break
        }
        guard result == CURLE_OK else {
            return .failed(
                TransportError(
                    result, url: request.url.string, detail: easy?.errorDetail ?? "",
                    expectedBytes: expectedBytes, receivedBytes: bodyBytes))
        }
        guard hasHead else {
            return .failed(TransportError(url: request.url.string, reason: .connectionLost))
        }
        return .complete(metrics())
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
