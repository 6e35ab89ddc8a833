import CCurl

/// Creates the easy handles of a thread, and keeps those that can be reused.
///
/// Confined to the worker's thread.
final class CurlHandlePool {
    private let configuration: CurlTransport.Configuration
    private let cookies: SharedCookies
    private let maximumIdleHandles: Int
    private let connections: CurlConnections
    private let mayReuse = CurlVersion.loaded.mayReuseHandles
    private let headerLines = HeaderLines()
    private var idle: [CurlEasy] = []
    /// The shared state, from the first handle on.
    private var share: CurlShare?

    init(_ state: SharedTransportState, maximumIdleHandles: Int, connections: CurlConnections) {
        configuration = state.configuration
        cookies = state.cookies
        self.maximumIdleHandles = maximumIdleHandles
        self.connections = connections
    }

    /// Returns a handle for one transfer.
    func take() throws(CurlOptionFailure) -> CurlEasy {
        if let easy = idle.popLast() { return easy }
        let easy = try CurlEasy(configuration, headerLines: headerLines)
        try easy.setCallbacks()
        try easy.announceConnections(to: connections)
        if share == nil { share = try CurlShare() }
        try share?.attach(to: easy)
        return easy
    }

    /// Returns a handle to the pool after its transfer has ended.
    func recycle(_ easy: CurlEasy) {
        easy.exchange = nil
        // libcurl keeps a server's challenge in the handle and would answer it to the next server. Cookies must not
        // be sent with requests that do not handle them.
        guard mayReuse, easy.settings?.leavesSecrets == false, !easy.hasChallenge, !easy.handlesCookies else { return }
        // As many as there are connections.
        if idle.count < maximumIdleHandles { idle.append(easy) }
    }

    /// Makes `easy` send and store the transport's cookies.
    func openCookies(for easy: CurlEasy) throws(CurlOptionFailure) {
        try cookies.open(for: easy)
    }
}
