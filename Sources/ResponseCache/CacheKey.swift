package import HTTPTransport
import HTTPTypes
import Hashing

/// The identity of a stored response: the URL, or the request's own key, and a hash of the request's credentials.
///
/// Credentials and cookies themselves are not stored.
package struct CacheKey: Sendable, Hashable {
    /// The URL, or the request's own key.
    let url: String
    /// A hash of the credentials; empty without any.
    let owner: [UInt8]

    package init(_ request: TransportRequest) {
        url = request.cacheKey ?? request.url.string
        let secrets = [
            request.headerFields[.authorization], request.headerFields[.cookie], request.credential?.secret,
            request.url.user, request.url.password,
        ]
        let isAnybody = secrets.allSatisfy { $0 == nil }
        owner = isAnybody ? [] : SHA256.hash(secrets.map { $0.map { "+\($0.utf8.count):\($0)" } ?? "-" }.joined())
    }

    /// The common prefix of the names of the key's entries: 32 hexadecimal digits.
    var name: String { SHA256.hash(Array(url.utf8) + [0x0A] + owner).prefix(16).hexadecimal }
}

extension Credential {
    fileprivate var secret: String {
        switch self {
        case .basic(let user, let password): "basic \(user.utf8.count) \(user) \(password)"
        case .digest(let user, let password): "digest \(user.utf8.count) \(user) \(password)"
        case .password(let user, let password): "password \(user.utf8.count) \(user) \(password)"
        case .bearer(let token): "bearer \(token)"
        }
    }
}
