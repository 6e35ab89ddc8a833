import HTTPSemantics
package import HTTPTypes

/// The rules for the request after a redirect (RFC 9110, section 15.4).
package enum RedirectRule {
    /// Returns the request to make after `head` answered `request`, or `nil` if `head` is not a redirect that can be
    /// followed.
    ///
    /// ``RedirectPolicy`` defines what is forwarded to another origin. `addsCredentials` indicates that the transport
    /// has sent credentials that `request` itself does not contain.
    package static func next(
        after head: HTTPResponse, of request: TransportRequest, redirectCount: Int, addsCredentials: Bool = false
    ) throws(TransportError) -> TransportRequest? {
        guard [301, 302, 303, 307, 308].contains(head.status.code),
            let location = head.headerFields[fields: .location].first
        else { return nil }
        guard redirectCount < request.maximumRedirects else {
            throw TransportError(url: request.url.string, reason: .tooManyRedirects(limit: request.maximumRedirects))
        }
        var next = request
        // The text belongs to the first URL.
        next.cacheKey = nil
        next.followedRedirects = request.followedRedirects.map { $0 + 1 }
        do {
            next.url = try request.url.resolving(location.bytes)
        } catch {
            throw TransportError(
                url: request.url.string, reason: .unsupportedRedirect,
                detail: displayText(HTTPURL.withoutUserInformation(location.value)))
        }
        if request.url.isSecure, addsCredentials || request.hasCredentials,
            request.redirectPolicy.insecureRedirects == .followedWithoutCredentials
        {
            // This setting is kept: later hops on other origins, without credentials, lead to the same image.
            next.redirectPolicy.insecureRedirects = .refused
        }
        if request.url.isSecure, !next.url.isSecure, next.redirectPolicy.insecureRedirects == .refused {
            throw TransportError(
                url: request.url.string, reason: .insecureRedirect, detail: displayText(next.url.string))
        }
        if head.status.code == 303, next.method != .head { next.method = .get }
        if !next.url.hasSameOrigin(as: request.url) {
            next.headerFields = request.redirectPolicy.crossOrigin(request.headerFields)
            next.credential = nil
        }
        return next
    }

    /// Returns the beginning of a target for an error, which can be logged: without its query, which can contain a
    /// signature, and its fragment.
    private static func displayText(_ target: String) -> String {
        String(target.prefix { $0 != "?" && $0 != "#" }.prefix(200))
    }
}

extension TransportRequest {
    /// A Boolean value that indicates whether the request itself contains credentials.
    fileprivate var hasCredentials: Bool {
        handlesCookies || ownCredential != nil || headerFields.contains(where: RedirectPolicy.isCredential)
    }
}
