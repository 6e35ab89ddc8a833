internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Threading

/// An HTTP/1.1 server on 127.0.0.1 with scripted responses and faults, for tests, demonstrations, and benchmarks.
///
/// The server runs on its own thread. Define responses by path, send requests to ``url(_:)``, then check what happened:
/// read ``counts`` and ``recordedRequests`` at any time, or wait for an event. Requests for paths without a route are
/// answered with 404. Connections are kept alive unless the script or the client closes them.
public final class LoopbackOrigin: Sendable {
    /// The TCP port, chosen by the system.
    public let port: Int

    private let group: MultiThreadedEventLoopGroup
    private let routes: Routes
    private let ledger: Ledger

    private init(port: Int, group: MultiThreadedEventLoopGroup, routes: Routes, ledger: Ledger) {
        self.port = port
        self.group = group
        self.routes = routes
        self.ledger = ledger
    }

    /// Starts an origin on a free port and returns it.
    ///
    /// When the origin is not needed anymore, call ``stop()``; ``withLoopbackOrigin(_:)`` does both. Throws an error if
    /// no socket is available.
    public static func start() async throws -> LoopbackOrigin {
        _ = decoderType
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let routes = Routes()
        let ledger = Ledger()
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
                        ConnectionHandler(routes: routes, ledger: ledger))
                }
            }
        do {
            let port = try await port(of: bootstrap)
            return LoopbackOrigin(port: port, group: group, routes: routes, ledger: ledger)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
    }

    /// The type of the decoders, instantiated before any connection needs one.
    ///
    /// Swift 6.3's runtime crashes if the threads of several origins first instantiate it at the same time.
    private static let decoderType = type(
        of: ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))

    /// Binds and returns the port instead of the channel: the thread sanitizer reports a false race for objects that
    /// a continuation passes from a plain thread.
    private static func port(of bootstrap: ServerBootstrap) async throws -> Int {
        let bound = Locked<Result<Int, any Error>?>(nil)
        await withCheckedContinuation { continuation in
            bootstrap.bind(host: "127.0.0.1", port: 0).whenComplete { result in
                let port = result.map { $0.localAddress?.port ?? 0 }
                bound.withLock { $0 = port }
                continuation.resume()
            }
        }
        return try bound.withLock { $0 }?.get() ?? 0
    }

    /// Closes every connection and the port, and returns after the origin's thread has ended.
    ///
    /// All waits for events end as well. Repeated calls have no effect.
    public func stop() async {
        try? await group.shutdownGracefully()
        routes.removeAll()
        ledger.close()
    }

    /// Returns the URL of `path`, which begins with a slash.
    public func url(_ path: String) -> String {
        "http://127.0.0.1:\(port)\(path)"
    }
}

// MARK: Answers

extension LoopbackOrigin {
    /// Responds to requests for `path` with `response`, from now on.
    ///
    /// A path with a query applies to that query only. A path that ends with `*` applies to all paths with that
    /// prefix that have no route of their own.
    public func route(_ path: String, _ response: Response) {
        routes.set(path) { _ in response }
    }

    /// Responds to the first request for `path` with the first of `responses`, and so on; the last one is repeated.
    public func route(_ path: String, _ responses: [Response]) {
        routes.set(path) { request in
            request.ordinal <= responses.count
                ? responses[request.ordinal - 1] : responses.last ?? Response(status: 404)
        }
    }

    /// Responds to requests for `path` with the results of `handler`.
    ///
    /// The handler runs on the origin's thread and must not block.
    public func route(_ path: String, _ handler: @escaping @Sendable (Request) -> Response) {
        routes.set(path, handler)
    }
}

// MARK: Observations

extension LoopbackOrigin {
    /// The current counts.
    public var counts: Counts { ledger.counts }

    /// The first 20,000 requests in the order of arrival.
    public var recordedRequests: [Request] { ledger.recordedRequests }

    /// Returns the recorded requests for `path`, with any query.
    public func recordedRequests(to path: String) -> [Request] {
        ledger.recordedRequests.filter { $0.path == path }
    }

    /// Returns when there have been `count` requests for `path`.
    public func requests(to path: String, reach count: Int) async {
        await counts { $0.requests[path, default: 0] >= count }
    }

    /// Returns when the number of open connections is `count`; for 0, this includes the time before the first one is
    /// opened.
    public func openConnections(become count: Int) async {
        await counts { $0.openConnections == count }
    }

    /// Returns when the kernel has accepted `count` bytes of bodies for `path`, over all responses.
    public func bodyBytesSent(to path: String, reach count: Int) async {
        await counts { $0.bodyBytesSent[path, default: 0] >= count }
    }

    /// Returns when the counts satisfy `isSatisfied`.
    ///
    /// Like all waits of this type, it also returns if the task is canceled or the origin is stopped.
    public func counts(satisfy isSatisfied: @escaping @Sendable (Counts) -> Bool) async {
        await ledger.wait(until: isSatisfied)
    }
}

/// Runs `body` with an origin and stops it when `body` returns or throws.
public func withLoopbackOrigin<Result>(_ body: (LoopbackOrigin) async throws -> Result) async throws -> Result {
    let origin = try await LoopbackOrigin.start()
    do {
        let result = try await body(origin)
        await origin.stop()
        return result
    } catch {
        await origin.stop()
        throw error
    }
}
