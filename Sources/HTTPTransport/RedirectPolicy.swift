public import HTTPTypes

/// How redirects are followed, besides how many.
///
/// A redirect to another origin (scheme, host or port, RFC 6454) never takes credentials along: `Authorization`, `Cookie`,
/// `Proxy-Authorization` and ``TransportRequest/credential`` are dropped, and of the other header fields all but
/// ``crossOriginHeaderFields``. A user name and password in a `Location` are never used.
public struct RedirectPolicy: Sendable, Hashable {
    /// How redirects from https to http are treated.
    public enum InsecureRedirects: Sendable, Hashable {
        /// They are followed.
        case followed
        /// They are followed unless the request, or one that led to it over https, had credentials.
        ///
        /// Credentials are `Authorization`, `Cookie` and `Proxy-Authorization` among the header fields, user name and password
        /// in the URL, ``TransportRequest/credential``, a ``CredentialProvider``'s answer, a client certificate, and
        /// ``TransportRequest/handlesCookies``. They are not sent on in any case; but what they give access to could be read
        /// and replaced on the way.
        case followedWithoutCredentials
        /// They fail with ``TransportError/Reason/insecureRedirect``.
        case refused
    }

    /// How redirects from https to http are treated.
    public var insecureRedirects: InsecureRedirects
    /// The header fields that follow a redirect to another origin.
    ///
    /// Any other field may be a secret, such as `X-Api-Key`. `Authorization`, `Cookie` and `Proxy-Authorization` do not follow
    /// even if they are named here.
    public var crossOriginHeaderFields: Set<HTTPField.Name>

    /// Redirects from https to http are followed without credentials, as browsers and curl would; the fields that follow
    /// to other origins are ``defaultCrossOriginHeaderFields``.
    public init(
        insecureRedirects: InsecureRedirects = .followedWithoutCredentials,
        crossOriginHeaderFields: Set<HTTPField.Name> = RedirectPolicy.defaultCrossOriginHeaderFields
    ) {
        self.insecureRedirects = insecureRedirects
        self.crossOriginHeaderFields = crossOriginHeaderFields
    }

    /// Fields that say what is wanted, and nothing of who wants it: `Accept`, `Accept-Encoding`, `Accept-Language`,
    /// `Cache-Control`, `User-Agent`, `Range`, and those of conditional requests (RFC 9110, section 13).
    public static let defaultCrossOriginHeaderFields: Set<HTTPField.Name> = [
        .accept, .acceptEncoding, .acceptLanguage, .cacheControl, .userAgent, .range, .ifRange, .ifMatch, .ifNoneMatch,
        .ifModifiedSince, .ifUnmodifiedSince,
    ]

    /// The fields of `headerFields` that follow a redirect to another origin.
    func crossOrigin(_ headerFields: HTTPFields) -> HTTPFields {
        headerFields.filter {
            crossOriginHeaderFields.contains($0.name) && !TransportRequest.credentialFields.contains($0.name)
        }
    }
}
