/// A source of credentials for origins that request authentication.
public protocol CredentialProvider: Sendable {
    /// Returns the response to `challenge`, or `nil` to accept the response with status 401.
    ///
    /// This method is called when a request without credentials is answered with status 401, once for all waiting
    /// requests to the same origin and realm. The result is tried once and, if the server accepts it, sent with later
    /// requests to that origin; if it is refused later, this method is called again. If this method throws an error,
    /// the requests fail with `authenticationFailed`. Its task is canceled when no request waits for it anymore.
    func credential(for challenge: CredentialChallenge) async throws -> Credential?
}

/// A server's request for authentication.
public struct CredentialChallenge: Sendable, Hashable {
    /// The requested URL; its scheme, host, and port are the origin.
    public let url: HTTPURL
    /// The realm, which is the server's name for the protected area, from the first `WWW-Authenticate` challenge that
    /// has one; otherwise, `nil`.
    public let realm: String?
    /// The authentication schemes that the server offers, in lowercase, such as `basic`, `digest`, or `bearer`.
    public let schemes: [String]
    /// The credential that was sent and refused, for example an expired token.
    public let refused: Credential?
}
