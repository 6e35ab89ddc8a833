public import HTTPTypes

/// One HTTP request, and what its answer may cost.
public struct TransportRequest: Sendable {
    /// Where to.
    public var url: HTTPURL
    /// GET by default; only methods without a body are supported.
    public var method: HTTPRequest.Method
    /// Header fields to send; `Host` is made from ``url``, and neither it nor `Content-Length` nor `Transfer-Encoding` is
    /// taken from here.
    ///
    /// Which of them follow a redirect to another origin is said by ``redirectPolicy``.
    public var headerFields: HTTPFields
    /// What proves to ``url``'s origin, and to no other, who asks.
    ///
    /// It counts more than user and password in the URL, and less than an `Authorization` among the header fields. If the server
    /// does not accept it, the request fails with `authenticationFailed`.
    public var credential: Credential?
    /// A Boolean value that indicates whether the transport's cookies are sent along, and those of the answer kept.
    public var handlesCookies: Bool
    /// How long each part may take.
    public var deadlines: Deadlines
    /// The maximum number of bytes of body, counted as they arrive whatever the head claims.
    public var bodyLimit: Int
    /// The maximum number of redirects to follow.
    public var redirectLimit: Int
    /// What redirects may take along, and whether they may lead from https to http.
    public var redirectPolicy: RedirectPolicy

    /// A GET of `url`.
    public init(
        url: HTTPURL,
        method: HTTPRequest.Method = .get,
        headerFields: HTTPFields = [:],
        credential: Credential? = nil,
        handlesCookies: Bool = false,
        deadlines: Deadlines = Deadlines(),
        bodyLimit: Int = 512 << 20,
        redirectLimit: Int = 10,
        redirectPolicy: RedirectPolicy = RedirectPolicy()
    ) {
        self.url = url
        self.method = method
        self.headerFields = headerFields
        self.credential = credential
        self.handlesCookies = handlesCookies
        self.deadlines = deadlines
        self.bodyLimit = bodyLimit
        self.redirectLimit = redirectLimit
        self.redirectPolicy = redirectPolicy
    }

    /// What the request itself has for its origin.
    var ownCredential: Credential? {
        guard credential != nil || url.user != nil || url.password != nil, headerFields[.authorization] == nil else {
            return nil
        }
        return credential ?? .basic(user: url.user ?? "", password: url.password ?? "")
    }
}
