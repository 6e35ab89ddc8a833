import CCurl

/// The hop of a transfer while libcurl has it, to open a connection or to perform the request.
///
/// Confined to the worker's thread.
final class CurlExchange: Exchange {
    let transfer: ActiveTransfer
    let easy: CurlEasy
    /// A Boolean value that indicates whether libcurl only opens a connection, over which this module sends the request.
    let connectsOnly: Bool
    private let proxy: String?
    /// A Boolean value that indicates whether there was no file descriptor for a connection.
    var lacksDescriptor = false
    /// The results of the address checks of the hop's host.
    var addressCheck = AddressCheck()
    /// The endpoints of the hop's connection, once it is established; `nil` if they are unknown.
    private var endpoints: ConnectionEndpoints?
    /// The socket of that connection, if it is known.
    private(set) var connection: FloodGuard.OpenSocket?
    /// The sockets that were opened for the hop.
    private var sockets: [FloodGuard.OpenSocket] = []

    init(_ transfer: ActiveTransfer, on easy: CurlEasy, connectsOnly: Bool, proxy: String? = nil) {
        self.transfer = transfer
        self.easy = easy
        self.connectsOnly = connectsOnly
        self.proxy = proxy
    }

    /// Configures the handle for the request.
    func prepare(addresses: [IPAddress]?, tls: TLSOptions) throws(CurlOptionFailure) {
        let request = transfer.request
        let url = request.url
        // libcurl divides this time between the addresses of the host; the effective deadline is enforced by this module.
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, connectMilliseconds)
        // Unlike nil, an empty string also keeps libcurl from reading the environment.
        try easy.set(CURLOPT_PROXY, proxy ?? "")
        try easy.setAddresses(addresses, of: url)
        guard !connectsOnly else {
            // Without TLS, which this module adds.
            try easy.set(CURLOPT_URL, "http://\(url.host):\(url.port)/")
            try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            try easy.set(CURLOPT_CONNECT_ONLY, 1)
            return try easy.set(CURLOPT_HTTPPROXYTUNNEL, 1)
        }
        try easy.set(CURLOPT_URL, url.string)
        // Over HTTP/2, libcurl 7.88 takes a body without a length for complete if its stream is reset with NO_ERROR.
        try easy.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        if url.isSecure { try easy.set(tls.settings(for: url.host)) }
        try easy.set(CURLOPT_FRESH_CONNECT, transfer.isRepeated ? 1 : 0)
        try easy.set(request.method)
        if let credential = transfer.credential { try easy.set(credential) }
        try easy.setHeaderFields(request.headerFields)
    }

    /// A Boolean value that indicates whether the handle can be used for another exchange.
    ///
    /// libcurl keeps secrets in it, which it could send to the next server or proxy: the answer to a challenge
    /// (CVE-2026-11856), the credentials of a proxy (CVE-2026-6253), and cookies.
    var leavesReusableHandle: Bool { connectsOnly && proxy?.contains("@") != true && !easy.hasChallenge }

    private var connectMilliseconds: Int {
        let longest = Duration.seconds(24 * 3600)
        let limit = min(max(transfer.request.deadlines.connect ?? longest, .milliseconds(1)), longest)
        return Int(limit / .milliseconds(1)) + 1
    }
}

// MARK: - Connections

extension CurlExchange {
    /// A Boolean value that indicates whether libcurl has no socket for the hop yet.
    var waitsForSocket: Bool { transfer.clock.phase == .connecting && sockets.isEmpty && !lacksDescriptor }

    /// Records that `socket` is about to be connected for the hop.
    func opened(_ socket: FloodGuard.OpenSocket) {
        sockets.append(socket)
    }

    /// Records that libcurl has established the connection, and is about to send the request, if that is its task.
    func connected(_ endpoints: ConnectionEndpoints?, of connections: CurlConnections?) {
        self.endpoints = endpoints
        connection = endpoints.flatMap { connections?.established($0, over: sockets) }
        if !connectsOnly { transfer.enter(.waitingForFirstByte) }
    }

    /// Returns whether the hop uses `connection`, or is about to.
    func uses(_ connection: FloodGuard.EndedConnection) -> Bool {
        if let endpoints, let ended = connection.endpoints { return endpoints == ended }
        return self.connection.map { $0 == connection.socket } ?? sockets.contains(connection.socket)
    }
}

// MARK: - Bodies

extension CurlExchange {
    /// Takes a part of the body; returns the number of bytes taken, in libcurl's convention.
    func receive(body: Span<UInt8>) -> Int {
        switch transfer.receive(body: body) {
        case .more: body.count
        case .pause: Int(CURL_WRITEFUNC_PAUSE)
        case .stop: Int(CURL_WRITEFUNC_ERROR)
        }
    }
}

extension ActiveTransfer {
    /// A Boolean value that indicates whether libcurl has the transfer, but no socket for it yet.
    var waitsForSocket: Bool { (exchange as? CurlExchange)?.waitsForSocket == true }
}
