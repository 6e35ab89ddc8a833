import Foundation

import FoundationNetworking

/// Foundation's `URLSession` alone, with async functions and without a cache.
struct URLSessionEngine: Engine {
    private let session: URLSession

    /// Creates a session, which has no option for certificate authorities.
    init(_ options: EngineOptions) {
        let configuration = URLSessionConfiguration.ephemeral
        if let limits = options.limits { configuration.httpMaximumConnectionsPerHost = limits.perHost }
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        session = URLSession(configuration: configuration)
    }

    func fetch(_ url: String) async throws -> Int {
        guard let parsed = URL(string: url) else { throw EngineError.invalidURL(url) }
        let (data, response) = try await session.data(from: parsed)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard 200..<300 ~= response.statusCode else { throw EngineError.status(response.statusCode) }
        return data.count
    }

    func shutdown() {
        session.invalidateAndCancel()
    }
}
