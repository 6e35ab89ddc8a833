package import HTTPTransport
import HTTPTypes
import Hashing

/// The resource of stored responses: a URL, or the request's own key, with a hash of the request's credentials.
///
/// Credentials and cookies themselves are not stored.
package struct CachedResource: Sendable, Hashable {
    /// The URL, or the request's own key.
    let url: String
    /// A hash of the credentials; empty without any.
    let owner: [UInt8]
    /// A hash of both, in 32 hexadecimal digits.
    let hash: String

    package init(_ request: TransportRequest) {
        self.init(url: Self.url(of: request), owner: Self.owner(of: request))
    }

    /// Creates the resource of a stored response.
    init(url: String, owner: [UInt8]) {
        self.url = url
        self.owner = owner
        // Computed once, because a request that is stored needs it several times.
        var identity = Array(url.utf8)
        identity.append(0x0A)
        identity.append(contentsOf: owner)
        hash = SHA256.hash(identity).prefix(16).hexadecimal
    }

    /// The key of its complete response without `Vary`.
    var plainKey: ResponseStorageKey { ResponseStorageKey(resource: hash) }

    /// Returns the URL of a request, or its own key.
    static func url(of request: TransportRequest) -> String { request.cacheKey ?? request.url.string }

    /// Returns a hash of the credentials of a request; empty without any.
    static func owner(of request: TransportRequest) -> [UInt8] {
        let secrets = [
            request.headerFields[.authorization], request.headerFields[.cookie], request.credential?.secret,
            request.url.user, request.url.password,
        ]
        let isAnybody = secrets.allSatisfy { $0 == nil }
        return isAnybody ? [] : SHA256.hash(secrets.map { $0.map { "+\($0.utf8.count):\($0)" } ?? "-" }.joined())
    }
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
