public import HTTPTypes

/// An HTTP request and the limits of its response.
public struct TransportRequest: Sendable {
    /// The URL.
    public var url: HTTPURL
    /// The method, GET by default; only methods without a body are supported.
    public var method: HTTPRequest.Method
    /// The header fields to send.
    ///
    /// `Host`, `Content-Length`, and `Transfer-Encoding` are ignored; `Host` is derived from ``url``.
    /// ``redirectPolicy`` defines which of them are forwarded to another origin.
    public var headerFields: HTTPFields
    /// The credential for the origin of ``url``; never sent to another origin.
    ///
    /// It takes precedence over the user name and password in the URL, but not over an `Authorization` header field. If
    /// the server does not accept it, the request fails with `authenticationFailed`.
    public var credential: Credential?
    /// A Boolean value that indicates whether the transport's cookies are sent, and cookies of the response stored.
    public var handlesCookies: Bool
    /// The time limits.
    public var deadlines: Deadlines
    /// The maximum number of bytes of the body, counted as they arrive, regardless of the declared length.
    public var maximumBodyBytes: Int
    /// The maximum number of redirects to follow.
    public var maximumRedirects: Int
    /// The rules for following redirects.
    public var redirectPolicy: RedirectPolicy
    /// The text that identifies the response in a cache instead of ``url``; `nil` for the URL.
    ///
    /// Transports ignore it.
    public var cacheKey: String?
    /// The number of redirects that have led to the request, if its sender follows them itself; `nil` if the transport
    /// does.
    package var followedRedirects: Int?
    /// The maximum number of connections to a server that requires HTTP/1.1 after it has negotiated HTTP/2, where more
    /// requests share a connection; `nil` for no limit.
    package var maximumConnectionsPerHost: Int?

    /// Creates a GET request for `url`.
    public init(
        url: HTTPURL,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        credential: Credential? = nil,
        handlesCookies: Bool = false,
        deadlines: Deadlines = Deadlines(),
        maximumBodyBytes: Int = 512 << 20,
        maximumRedirects: Int = 10,
        redirectPolicy: RedirectPolicy = RedirectPolicy(),
        cacheKey: String? = nil
    ) {
        self.url = url
        self.method = method
        self.headerFields = headerFields
        self.credential = credential
        self.handlesCookies = handlesCookies
        self.deadlines = deadlines
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumRedirects = maximumRedirects
        self.redirectPolicy = redirectPolicy
        self.cacheKey = cacheKey
    }

    /// The request's own credential for its origin.
    var ownCredential: Credential? {
        guard credential != nil || url.user != nil || url.password != nil, headerFields[.authorization] == nil else {
            return nil
        }
        return credential ?? .basic(user: url.user ?? "", password: url.password ?? "")
    }
}
