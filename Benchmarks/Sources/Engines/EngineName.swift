/// The engines that are compared.
public enum EngineName: String, Sendable, Hashable, CaseIterable, Codable {
    /// AsyncWebImage through its public API.
    case actor
    /// A port of SDWebImage 4's downloader: operations, barrier queues, blocks.
    case operationQueue = "operation-queue"
    /// Foundation's `URLSession` alone.
    case urlsession
    /// swift-server's AsyncHTTPClient alone.
    case asyncHTTPClient = "async-http-client"
    /// A plain C loop on libcurl's multi interface: the limit for small bodies.
    case curlMulti = "curl-multi"
    /// The same loop, which frees the memory of each body instead of reusing it.
    case curlMultiFreeing = "curl-multi-freeing"

    /// The type of the engine, or `nil` for the loops in C, which fetch only in bulk: see ``CurlMulti``.
    ///
    /// To find additional capabilities, cast the type, as in `type as? any SharingEngine.Type`.
    public var type: (any Engine.Type)? {
        switch self {
        case .actor: ActorEngine.self
        case .operationQueue: OperationQueueEngine.self
        case .urlsession: URLSessionEngine.self
        case .asyncHTTPClient: AsyncHTTPClientEngine.self
        case .curlMulti, .curlMultiFreeing: nil
        }
    }
}
