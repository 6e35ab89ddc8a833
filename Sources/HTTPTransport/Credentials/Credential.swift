/// What proves to a server who asks.
public enum Credential: Sendable, Hashable {
    /// Sent along at once, readable by whoever reads the request (Basic, RFC 7617).
    case basic(user: String, password: String)
    /// The password itself is not sent (Digest, RFC 7616); each request is made twice, the first time for the server's challenge.
    case digest(user: String, password: String)
    /// Whatever of these the server offers, Digest rather than Basic; each request is made twice.
    case password(user: String, password: String)
    /// A token, sent along at once (RFC 6750).
    case bearer(String)

    /// A Boolean value that indicates whether libcurl waits for a challenge before it sends anything of it.
    var isNegotiated: Bool {
        switch self {
        case .basic, .bearer: false
        case .digest, .password: true
        }
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible {
    /// The kind and the user, for logs: neither password nor token.
    public var description: String {
        switch self {
        case .basic(let user, _): "Basic, user \(user)"
        case .digest(let user, _): "Digest, user \(user)"
        case .password(let user, _): "user \(user)"
        case .bearer: "Bearer"
        }
    }

    /// The same as ``description``.
    public var debugDescription: String { description }
}
