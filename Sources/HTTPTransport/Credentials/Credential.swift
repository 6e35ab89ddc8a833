import FoundationEssentials

/// A credential that authenticates a client to a server.
public enum Credential: Sendable, Hashable {
    /// User name and password, sent with the first request and readable by anyone who can read the request (Basic,
    /// RFC 7617).
    case basic(user: String, password: String)
    /// User name and password; the password itself is not sent (Digest, RFC 7616). Each request is made twice, the
    /// first time for the server's challenge.
    case digest(user: String, password: String)
    /// User name and password for a scheme that the server offers, preferring Digest to Basic. Each request is made
    /// twice.
    case password(user: String, password: String)
    /// A token, sent with the first request (RFC 6750).
    case bearer(String)

    /// A Boolean value that indicates whether libcurl waits for a challenge before it sends the credential.
    var isNegotiated: Bool {
        switch self {
        case .basic, .bearer: false
        case .digest, .password: true
        }
    }
}

extension Credential {
    /// The value of the `Authorization` field with the credential; `nil` if the server is asked for a challenge first.
    var authorization: String? {
        switch self {
        case .basic(let user, let password): "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
        case .bearer(let token): "Bearer \(token)"
        case .digest, .password: nil
        }
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible {
    /// The scheme and the user name, for logs; never a password or token.
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
