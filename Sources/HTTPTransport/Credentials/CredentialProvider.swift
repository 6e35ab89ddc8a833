/// A source of credentials for origins that request authentication.
public protocol CredentialProvider: Sendable {
    /// Returns the response to `challenge`, or `nil` to accept the response with status 401.
    ///
    /// Called when a request without credentials was answered with status 401, once for all waiting requests to the
    /// same origin and realm. The result is tried once and, if accepted, sent with later requests to that origin; if
    /// it is refused later, this method is called again. If it throws an error, the requests fail with
    /// `authenticationFailed`. The task is canceled when no request waits anymore.
    func credential(for challenge: CredentialChallenge) async throws -> Credential?
}

/// A server's request for authentication.
public struct CredentialChallenge: Sendable, Hashable {
    /// The requested URL; its scheme, host, and port are the origin.
    public let url: HTTPURL
    /// The realm: the server's name for the protected area, from the first challenge that has one.
    public let realm: String?
    /// The authentication schemes that the server offers, in lowercase: `basic`, `digest`, `bearer`.
    public let schemes: [String]
    /// The credential that was sent and refused, for example an expired token.
    public let refused: Credential?
}
