import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

/// swift-server's AsyncHTTPClient alone, on SwiftNIO's shared event loops.
struct AsyncHTTPClientEngine: Engine {
    /// The maximum size of a body, which is AsyncWebImage's default.
    private static let maximumBodyBytes = 512 << 20

    private let client: HTTPClient

    /// Creates a client, which has no limit on the transfers of all hosts.
    init(_ options: EngineOptions) {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(10), read: .seconds(15)))
        if let limits = options.limits {
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.perHost
        }
        if let file = options.certificateAuthorityFile {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func fetch(_ url: String) async throws -> Int {
        let response = try await client.execute(HTTPClientRequest(url: url), deadline: .distantFuture)
        guard 200..<300 ~= response.status.code else { throw EngineError.status(Int(response.status.code)) }
        return try await response.body.collect(upTo: Self.maximumBodyBytes).readableBytes
    }

    func shutdown() async throws {
        try await client.shutdown()
    }
}
