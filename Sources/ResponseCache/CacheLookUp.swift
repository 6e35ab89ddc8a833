import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// A request that a cache has a part in: what is stored for it, and what may be made of that.
struct CacheLookUp: Sendable {
    let request: TransportRequest
    let key: CacheKey
    let cache: ResponseCache
    let policy: CachePolicy

    /// Creates a lookup; nil if there is no cache, or it takes no part in the answer to the request.
    init?(_ request: TransportRequest, in cache: ResponseCache?, policy: CachePolicy) {
        guard let cache, Self.applies(to: request, policy) else { return nil }
        self.request = request
        key = CacheKey(request)
        self.cache = cache
        self.policy = policy
    }

    /// Returns whether a cache takes part in the answer to a request.
    static func applies(to request: TransportRequest, _ policy: CachePolicy) -> Bool {
        // Which cookies a jar will send is not known here, and so not whose response it will be.
        guard policy != .noStore, !request.handlesCookies else { return false }
        // A part is no answer of its own, but may complete what is stored.
        let isWhole = request.headerFields[.range] == nil || request.asksForRest
        return request.method == .get && isWhole || policy == .cacheOnly
    }

    /// Whether it matters what is stored; if not, there is nothing to look for.
    var isNeeded: Bool {
        policy == .cacheOnly || request.asksForRest || policy != .reload && !request.headerFields.isConditional
    }

    /// Looks at what is stored; on the cache's thread.
    func decide() -> CacheDecision {
        guard isNeeded else { return .fetch(standIn: nil) }
        if request.asksForRest, policy != .cacheOnly { return resumption ?? .fetch(standIn: nil) }
        let stored = cache.find(.whole, request, key)
        let asked = CacheControl(request.headerFields, isRequest: true)
        switch (policy.step(stored: stored?.head, asked: asked, now: cache.now()), stored) {
        case (.serve, let stored?): return .serve(aged(stored))
        case (.validate, let stored?): return .revalidate(stored)
        case (.fail, _): return .refuse
        case (_, nil): return resumption ?? .fetch(standIn: nil)
        case (.fetch, let stored?): return .fetch(standIn: stored)
        }
    }

    private var resumption: CacheDecision? {
        guard let stored = cache.find(.part, request.forEverything, key), let part = StoredPart(stored, for: request)
        else { return nil }
        // Verified before anybody is asked: the rest of what is damaged would be of no use.
        guard stored.body.isIntact else {
            cache.removeDamaged(stored.name)
            return nil
        }
        return .resume(part)
    }

    /// A stored response as it is, without asking: with its age (RFC 9111, section 5.1).
    func aged(_ stored: StoredResponse) -> StoredReply {
        var response = stored.head.response
        response.headerFields[.age] = "\(stored.head.freshness.age(at: cache.now()))"
        return StoredReply(stored: stored, head: head(response, stored), source: cache.source)
    }

    /// A stored response renewed by a 304; nil if that is about something else (RFC 9111, section 4.3.4).
    func renewed(_ stored: StoredResponse, by head: ResponseHead, requestedAt: Int, receivedAt: Int) -> StoredReply? {
        let response = head.response
        let (old, new) = (stored.head.fields[.eTag], response.headerFields[.eTag])
        let isSame = old == nil || new == nil || old?.strongPart == new?.strongPart
        guard head.redirectCount == 0, isSame else { return nil }
        let renewal = stored.head.renewed(
            by: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt)
        return StoredReply(
            stored: stored, head: self.head(renewal.response, stored), source: .revalidated, renewal: renewal)
    }

    private func head(_ response: HTTPResponse, _ stored: StoredResponse) -> ResponseHead {
        var response = response
        response.headerFields[.contentLength] = "\(stored.body.length)"
        return ResponseHead(response: response, url: request.url)
    }

    /// Why the request has no response.
    func error(_ reason: TransportError.Reason) -> TransportError {
        TransportError(url: request.url.string, reason: reason)
    }
}

/// How a stored response is handed over.
package struct StoredReply: Sendable {
    let stored: StoredResponse
    let head: ResponseHead
    let source: ResponseSource
    /// The head to store from now on.
    var renewal: StoredHead?
}
