import CCurl

/// The hop of a transfer while libcurl has it, to open a connection or to perform the request.
///
/// Confined to the worker's thread.
final class CurlExchange: Exchange {
    let transfer: ActiveTransfer
    let easy: CurlEasy
    /// A Boolean value that indicates whether libcurl only opens a connection, over which this module sends the request.
    let connectsOnly: Bool
    /// The addresses passed to libcurl with the request; once it has connected, libcurl has cached them.
    let override: ResolveOverrides.Entry?
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
    /// A Boolean value that indicates whether the body is no longer needed.
    private var discardsBody = false

    init(_ transfer: ActiveTransfer, on easy: CurlEasy, connectsOnly: Bool, override: ResolveOverrides.Entry? = nil) {
        self.transfer = transfer
        self.easy = easy
        self.connectsOnly = connectsOnly
        self.override = override
    }

    /// Configures the handle for the request.
    func prepare(proxy: String?, tls: TLSOptions) throws(CurlOptionFailure) {
        let request = transfer.request
        let url = request.url
        if connectsOnly {
            // Without TLS, which this module adds.
            try easy.set(CURLOPT_URL, "http://\(url.host):\(url.port)/")
            try easy.set(CurlSettings(connectMilliseconds: connectMilliseconds, proxy: proxy))
        } else {
            try easy.set(CURLOPT_URL, url.string)
            try easy.set(
                CurlSettings(
                    isSecure: url.isSecure, credential: transfer.credential, method: request.method,
                    connectMilliseconds: connectMilliseconds, headerFields: request.headerFields, proxy: proxy,
                    tls: url.isSecure ? tls.settings(for: url.host) : TLSOptions.HostSettings(),
                    needsNewConnection: transfer.isRepeated, connectsOnly: false))
        }
        // "+": the entry expires like one of libcurl's own.
        try easy.setResolved(
            override.map { "+\($0.key):\($0.addresses.list.map(bracketed).joined(separator: ","))" })
    }

    private var connectMilliseconds: Int {
        let longest = Duration.seconds(24 * 3600)
        let limit = min(max(transfer.request.deadlines.connect ?? longest, .milliseconds(1)), longest)
        return Int(limit / .milliseconds(1)) + 1
    }

    private func bracketed(_ address: IPAddress) -> String { address.isIPv4 ? "\(address)" : "[\(address)]" }
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
        if discardsBody { return body.count }
        return switch transfer.receive(body: body) {
        case .more: body.count
        case .pause: Int(CURL_WRITEFUNC_PAUSE)
        case .stop: Int(CURL_WRITEFUNC_ERROR)
        }
    }

    /// Makes libcurl release the bytes that it holds because the transfer is paused, without delivering them.
    func discardPausedBytes() {
        guard transfer.isPaused || transfer.isPausedForFairness else { return }
        discardsBody = true
        _ = easy.unpause()
    }
}

extension ActiveTransfer {
    /// A Boolean value that indicates whether libcurl has the transfer, but no socket for it yet.
    var waitsForSocket: Bool { (exchange as? CurlExchange)?.waitsForSocket == true }
}
