import HTTPTypes

/// Which request a redirect asks for (RFC 9110, section 15.4).
enum RedirectRule {
    /// The request to make after `head` answered `request`, or nil if `head` is no redirect that can be followed.
    ///
    /// Credentials do not travel to another origin: `Authorization`, `Cookie` and the request's own
    /// credential are dropped.
    static func next(
        after head: HTTPResponse, of request: TransportRequest, redirectCount: Int
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
        if head.status.code == 303, next.method != .head { next.method = .get }
        if !next.url.hasSameOrigin(as: request.url) {
            next.headerFields[.authorization] = nil
            next.headerFields[.cookie] = nil
            next.credential = nil
        }
        return next
    }
}
