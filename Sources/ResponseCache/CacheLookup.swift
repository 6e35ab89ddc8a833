import HTTPSemantics
package import HTTPTransport
import HTTPTypes

/// A request for which a cache is used, with the rules for its stored responses.
struct CacheLookup: Sendable {
    let request: TransportRequest
    let key: CacheKey
    let cache: ResponseCache
    let policy: CachePolicy
    /// A Boolean value that indicates whether the request repeats a failed one, so that a stored failure is not used.
    let isRetry: Bool

    /// Creates a lookup; returns `nil` if there is no cache, or it does not apply to the request.
    init?(_ request: TransportRequest, in cache: ResponseCache?, policy: CachePolicy, isRetry: Bool = false) {
        guard let cache, Self.applies(to: request, policy) else { return nil }
        self.isRetry = isRetry
        self.request = request
        key = CacheKey(request)
        self.cache = cache
        self.policy = policy
    }

    /// Returns whether a cache applies to a request.
    static func applies(to request: TransportRequest, _ policy: CachePolicy) -> Bool {
        // The cookies that will be sent are unknown here, so it is unknown to which user the response belongs.
        guard policy != .noStore, !request.handlesCookies, request.method == .get else { return false }
        // Ranges are neither stored nor served.
        return request.headerFields[.range] == nil || request.isRangeContinuation
    }

    /// A Boolean value that indicates whether stored responses matter; if not, no lookup is needed.
    var isNeeded: Bool {
        policy == .cacheOnly || request.isRangeContinuation || policy != .reload && !request.headerFields.isConditional
    }

    /// Looks up stored responses and decides; on the cache's thread.
    ///
    /// With `revalidatesLater`, the caller revalidates a stale response that is served for that reason.
    func decide(revalidatesLater: Bool = false) -> CacheDecision {
        guard isNeeded else { return .fetch(standIn: nil) }
        if request.isRangeContinuation, policy != .cacheOnly { return resumption ?? .fetch(standIn: nil) }
        let stored = cache.find(.whole, request, key).flatMap { isRetry && $0.head.isFailure ? nil : $0 }
        let asked = CacheControl(request.headerFields, isRequest: true)
        let step = policy.step(stored: stored?.head, asked: asked, now: cache.now())
        switch (step, stored) {
        case (.serve, let stored?): return .serve(aged(stored))
        case (.validate, let stored?), (.fetch, let stored?):
            if revalidatesLater, policy.servesWhileRevalidating(stored.head, asked: asked, now: cache.now()) {
                var reply = aged(stored)
                reply.needsRevalidation = true
                return .serve(reply)
            }
            return step == .validate ? .revalidate(stored) : .fetch(standIn: stored)
        case (.fail, _): return .refuse
        case (_, nil): return resumption ?? .fetch(standIn: nil)
        }
    }

    /// Returns whether a stored response that answers the request is served without asking the origin.
    func serves(_ stored: StoredResponse) -> Bool {
        let asked = CacheControl(request.headerFields, isRequest: true)
        return policy.step(stored: stored.head, asked: asked, now: cache.now()) == .serve
    }

    /// Returns whether the body of a reply is no longer than the request accepts.
    func accepts(_ reply: StoredReply) -> Bool {
        reply.stored.body.length <= request.maximumBodyBytes
    }

    var resumption: CacheDecision? {
        guard let stored = cache.find(.part, request.withoutRange, key), let part = StoredPart(stored, for: request)
        else { return nil }
        // Verified before the request: the remainder of a damaged body would be useless.
        do throws(StoredBodyError) {
            try stored.body.verify()
            return .resume(part)
        } catch {
            cache.removeDamaged(stored, after: error)
            return nil
        }
    }

    /// Returns a stored response for use without revalidation, with its age (RFC 9111, section 5.1).
    func aged(_ stored: StoredResponse) -> StoredReply {
        let age = stored.head.freshness.age(at: cache.now())
        return StoredReply(stored: stored, head: head(stored.head, age: age, stored.body), source: cache.source)
    }

    /// Returns a stored response updated by a 304; `nil` if that is for another version (RFC 9111, section 4.3.4).
    func renewed(_ stored: StoredResponse, by head: ResponseHead, requestedAt: Int, receivedAt: Int) -> StoredReply? {
        let response = head.response
        let storedHead = stored.head.parsed
        let (old, new) = (storedHead.fields.bytes(of: .eTag), response.headerFields.bytes(of: .eTag))
        let isSame = old == nil || new == nil || old?.strongPart == new?.strongPart
        guard !request.isRedirected(head), isSame else { return nil }
        let renewal = storedHead.renewed(
            by: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt)
        return StoredReply(
            stored: stored, head: self.head(renewal, age: nil, stored.body), source: .revalidated, renewal: renewal)
    }

    /// Returns the head of a response to serve; `age` is `nil` if the origin has just confirmed it.
    private func head(_ stored: StoredHead, age: Int?, _ body: StoredBody) -> ResponseHead {
        ResponseHead(
            AgedResponse(stored: stored, age: age, length: body.length), url: request.url,
            redirectCount: request.followedRedirects ?? 0)
    }

    /// Returns the error of a request that has no response.
    func error(_ reason: TransportError.Reason) -> TransportError {
        TransportError(url: request.url.string, reason: reason)
    }
}

/// A stored response to serve.
package struct StoredReply: Sendable {
    var stored: StoredResponse
    package let head: ResponseHead
    package let source: ResponseSource
    /// The updated head to store.
    var renewal: StoredHead?
    /// A Boolean value that indicates whether the response is stale and must be revalidated after it has been served.
    var needsRevalidation = false
}
