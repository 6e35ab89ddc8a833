import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// swift-server's AsyncHTTPClient alone, on SwiftNIO's shared event loops.
struct AsyncHTTPClientEngine: Engine {
    /// The maximum size of a body, which is AsyncWebImage's default.
    private static let maximumBodyBytes = 512 << 20

    private let client: HTTPClient

    init(concurrency: Int) {
        var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(10), read: .seconds(15)))
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = concurrency
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
