/// What knows the credentials for origins that ask for them.
public protocol CredentialProvider: Sendable {
    /// What to answer to `challenge`; nil if there is nothing to answer, and the status 401 is the response then.
    ///
    /// Asked when a request without credentials was answered by 401, once for all requests to an origin and realm that
    /// wait. What it returns is tried once, and if it is accepted, sent along with later requests to that origin; when it
    /// is refused one day, the provider is asked again. An error that is thrown ends the requests with `authenticationFailed`.
    /// The task is canceled when no request waits any longer.
    func credential(for challenge: CredentialChallenge) async throws -> Credential?
}

/// Who asks for a credential, and for what.
public struct CredentialChallenge: Sendable, Hashable {
    /// What was asked for; scheme, host and port are the origin.
    public let url: HTTPURL
    /// What the server calls the part of it that the credential is for, in the first challenge that names it.
    public let realm: String?
    /// The ways of authentication that the server offers, in lower case: `basic`, `digest`, `bearer`.
    public let schemes: [String]
    /// What was sent along and refused: a token that has expired, perhaps.
    public let refused: Credential?
}
