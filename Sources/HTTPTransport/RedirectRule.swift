import HTTPTypes

/// Which request a redirect asks for (RFC 9110, section 15.4).
enum RedirectRule {
    /// The request to make after `head` answered `request`, or nil if `head` is no redirect that can be followed.
    ///
    /// What goes along to another origin is said at ``RedirectPolicy``. `addsCredentials` tells that the transport has sent
    /// credentials that `request` itself does not have.
    static func next(
        after head: HTTPResponse, of request: TransportRequest, redirectCount: Int, addsCredentials: Bool = false
    ) throws(TransportError) -> TransportRequest? {
        guard [301, 302, 303, 307, 308].contains(head.status.code),
            let location = head.headerFields[fields: .location].first?.value
        else { return nil }
        guard redirectCount < request.redirectLimit else {
            throw TransportError(url: request.url.string, reason: .tooManyRedirects(limit: request.redirectLimit))
        }
        var next = request
        do {
            next.url = try request.url.resolving(location)
        } catch {
            throw TransportError(
                url: request.url.string, reason: .redirectRefused,
                detail: String(HTTPURL.withoutUserInformation(location).prefix(200)))
        }
        if request.url.isSecure, addsCredentials || request.hasCredentials,
            request.redirectPolicy.insecureRedirects == .followedWithoutCredentials
        {
            // So it stays: the hops behind other origins, which get no credentials, end at the same image.
            next.redirectPolicy.insecureRedirects = .refused
        }
        if request.url.isSecure, !next.url.isSecure, next.redirectPolicy.insecureRedirects == .refused {
            throw TransportError(
                url: request.url.string, reason: .insecureRedirect, detail: String(next.url.string.prefix(200)))
        }
        if head.status.code == 303, next.method != .head { next.method = .get }
        if !next.url.hasSameOrigin(as: request.url) {
            next.headerFields = request.redirectPolicy.crossOrigin(request.headerFields)
            next.credential = nil
        }
        return next
    }
}

extension TransportRequest {
    /// The header fields that are credentials, whatever a ``RedirectPolicy`` says.
    static let credentialFields: Set<HTTPField.Name> = [.authorization, .cookie, .proxyAuthorization]

    /// A Boolean value that indicates whether the request itself brings along anything that tells who asks.
    fileprivate var hasCredentials: Bool {
        handlesCookies || ownCredential != nil || headerFields.contains { Self.credentialFields.contains($0.name) }
    }
}
