public import HTTPTypes

/// Rules for following redirects, except for the maximum number of redirects.
///
/// A redirect to another origin (scheme, host, or port, RFC 6454) never forwards credentials: `Authorization`,
/// `Cookie`, `Proxy-Authorization`, and ``TransportRequest/credential`` are removed. So are all other header fields
/// that are not in ``crossOriginHeaderFields``. A user name and password in a `Location` are ignored.
public struct RedirectPolicy: Sendable, Hashable {
    /// The treatment of redirects from https to http.
    public enum InsecureRedirects: Sendable, Hashable {
        /// Redirects are followed.
        case followed
        /// Redirects are followed unless the request, or an earlier https request of the chain, had credentials.
        ///
        /// Credentials are `Authorization`, `Cookie`, and `Proxy-Authorization` header fields, a user name or
        /// password in the URL, ``TransportRequest/credential``, a ``CredentialProvider``'s answer, a client
        /// certificate, and ``TransportRequest/handlesCookies``. They are never forwarded, but the content they
        /// protect could be read and replaced on the network.
        case followedWithoutCredentials
        /// Redirects fail with ``TransportError/Reason/insecureRedirect``.
        case refused
    }

    /// The treatment of redirects from https to http.
    public var insecureRedirects: InsecureRedirects
    /// The header fields that are forwarded to another origin.
    ///
    /// Any other field can be a secret, such as `X-Api-Key`. `Authorization`, `Cookie`, and `Proxy-Authorization` are
    /// not forwarded even if they are listed here.
    public var crossOriginHeaderFields: Set<HTTPField.Name>

    /// Creates a policy.
    ///
    /// By default, redirects from https to http are followed unless the request, or an earlier https request of the
    /// chain, had credentials, and ``defaultCrossOriginHeaderFields`` are forwarded to other origins.
    public init(
        insecureRedirects: InsecureRedirects = .followedWithoutCredentials,
        crossOriginHeaderFields: Set<HTTPField.Name> = RedirectPolicy.defaultCrossOriginHeaderFields
    ) {
        self.insecureRedirects = insecureRedirects
        self.crossOriginHeaderFields = crossOriginHeaderFields
    }

    /// Fields that describe the requested content but not the client: `Accept`, `Accept-Encoding`, `Accept-Language`,
    /// `Cache-Control`, `User-Agent`, `Range`, and those of conditional requests (RFC 9110, section 13).
    public static let defaultCrossOriginHeaderFields: Set<HTTPField.Name> = [
        .accept, .acceptEncoding, .acceptLanguage, .cacheControl, .userAgent, .range, .ifRange, .ifMatch, .ifNoneMatch,
        .ifModifiedSince, .ifUnmodifiedSince,
    ]

    /// Returns the fields of `headerFields` that are forwarded to another origin.
    func crossOrigin(_ headerFields: HTTPFields) -> HTTPFields {
        headerFields.filter { crossOriginHeaderFields.contains($0.name) && !Self.isCredential($0) }
    }

    /// Returns whether a header field is a credential, which is forwarded to no other origin.
    static func isCredential(_ field: HTTPField) -> Bool {
        [.authorization, .cookie, .proxyAuthorization].contains(field.name)
    }
}
