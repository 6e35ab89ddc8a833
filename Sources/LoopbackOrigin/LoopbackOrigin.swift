internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Threading

/// An HTTP/1.1 origin on 127.0.0.1 that answers by script, faults included: for tests, demonstrations and benchmarks.
///
/// It runs on one thread of its own. Give it answers by path, fetch from ``url(_:)``, then ask what it saw: at any
/// moment by ``counts`` and ``recordedRequests``, or by waiting for an event, never for a time. Paths without a route
/// are answered by 404. Connections are kept alive unless script or client say otherwise.
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

    /// A running origin on a free port.
    ///
    /// Whoever starts it must ``stop()`` it; see also ``withLoopbackOrigin(_:)``. Throws if no socket can be had.
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

    /// The type of the decoders, known to the runtime before any connection needs one.
    ///
    /// Swift 6.3's runtime crashed when the threads of several origins made it at the same moment, each for the first time.
    private static let decoderType = type(
        of: ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))

    /// Binds, and hands over the port rather than the channel: thread sanitizer takes an object that a continuation
    /// brings from a plain thread for a race.
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

    /// Closes every connection and the port, and ends the thread; nothing is left when it returns.
    ///
    /// Waits for events end too. Stopping twice does no harm.
    public func stop() async {
        try? await group.shutdownGracefully()
        routes.removeAll()
        ledger.close()
    }

    /// The URL of `path`, which begins with a slash.
    public func url(_ path: String) -> String {
        "http://127.0.0.1:\(port)\(path)"
    }
}

// MARK: Answers

extension LoopbackOrigin {
    /// Answers requests to `path` by `response`, from now on.
    ///
    /// A path with a query is for that query only; one that ends in `*` is for everything that begins so and has no
    /// route of its own.
    public func route(_ path: String, _ response: Response) {
        routes.set(path) { _ in response }
    }

    /// Answers the first request to `path` by the first of `responses`, and so on; the last one is repeated.
    public func route(_ path: String, _ responses: [Response]) {
        routes.set(path) { request in
            request.ordinal <= responses.count
                ? responses[request.ordinal - 1] : responses.last ?? Response(status: 404)
        }
    }

    /// Answers requests to `path` by what `handler` makes of them.
    ///
    /// It runs on the origin's thread and must not block.
    public func route(_ path: String, _ handler: @escaping @Sendable (Request) -> Response) {
        routes.set(path, handler)
    }
}

// MARK: What happened

extension LoopbackOrigin {
    /// The counts of this moment.
    public var counts: Counts { ledger.counts }

    /// The requests in the order of their arrival, the first 20,000 of them.
    public var recordedRequests: [Request] { ledger.recordedRequests }

    /// The recorded requests to `path`, whatever their query.
    public func recordedRequests(to path: String) -> [Request] {
        ledger.recordedRequests.filter { $0.path == path }
    }

    /// Returns when `path` has been asked for `count` times.
    public func requests(to path: String, reach count: Int) async {
        await counts { $0.requests[path, default: 0] >= count }
    }

    /// Returns when that many connections are open, which is also so before the first one comes.
    public func openConnections(become count: Int) async {
        await counts { $0.openConnections == count }
    }

    /// Returns when the kernel has taken `count` bytes of bodies of `path`, all its answers together.
    public func bodyBytesSent(to path: String, reach count: Int) async {
        await counts { $0.bodyBytesSent[path, default: 0] >= count }
    }

    /// Returns when the counts satisfy `isSatisfied`.
    ///
    /// Like every wait here it also returns if the task is canceled or the origin stopped.
    public func counts(satisfy isSatisfied: @escaping @Sendable (Counts) -> Bool) async {
        await ledger.wait(until: isSatisfied)
    }
}

/// Runs `body` with an origin that is stopped when it returns or throws.
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
