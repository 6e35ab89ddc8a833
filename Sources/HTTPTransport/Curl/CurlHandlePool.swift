import CCurl

/// Creates the easy handles of a thread, and keeps those that can be reused.
///
/// Confined to the worker's thread.
final class CurlHandlePool {
    private let configuration: CurlTransport.Configuration
    private let maximumIdleHandles: Int
    private let connections: CurlConnections
    private let mayReuse = CurlVersion.loaded.mayReuseHandles
    private var idle: [CurlEasy] = []
    /// The shared state, from the first handle on.
    private var share: CurlShare?

    init(_ state: SharedTransportState, maximumIdleHandles: Int, connections: CurlConnections) {
        configuration = state.configuration
        self.maximumIdleHandles = maximumIdleHandles
        self.connections = connections
    }

    /// Returns a handle for one exchange.
    func take(connectsOnly: Bool) throws(CurlOptionFailure) -> CurlEasy {
        if connectsOnly, let easy = idle.popLast() { return easy }
        let easy = try CurlEasy(configuration)
        try easy.setCallbacks()
        try easy.announceConnections(to: connections)
        if share == nil { share = try CurlShare() }
        try share?.attach(to: easy)
        return easy
    }

    /// Returns the handle of an exchange that has ended to the pool.
    func recycle(_ exchange: CurlExchange) {
        exchange.easy.exchange = nil
        // As many as there are connections.
        guard mayReuse, idle.count < maximumIdleHandles, exchange.leavesReusableHandle else { return }
        idle.append(exchange.easy)
    }
}
