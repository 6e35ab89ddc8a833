import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// A request that a cache can answer, and the rules for the stored responses to it.
///
/// A pure value, which is told the time: others find, read, and store responses.
struct CacheRequest: Sendable {
    let transportRequest: TransportRequest
    let resource: CachedResource
    let policy: CachePolicy
    /// A Boolean value that indicates whether the request repeats a failed one, so that a stored failure is not used.
    let isRetry: Bool

    /// Creates a request for a cache; returns `nil` if the request bypasses it.
    init?(_ request: TransportRequest, policy: CachePolicy, isRetry: Bool = false) {
        guard Self.applies(to: request, policy) else { return nil }
        transportRequest = request
        resource = CachedResource(request)
        self.policy = policy
        self.isRetry = isRetry
    }

    /// Returns whether a cache applies to a request.
    static func applies(to request: TransportRequest, _ policy: CachePolicy) -> Bool {
        // The cookies that will be sent are unknown here, so it is unknown to which user the response belongs.
        guard policy != .noStore, !request.handlesCookies, request.method == .get else { return false }
        // Ranges are neither stored nor served.
        return request.headerFields[.range] == nil || request.isRangeContinuation
    }

    /// A Boolean value that indicates whether stored responses matter; if not, no lookup is needed.
    var usesStoredResponses: Bool {
        policy == .cacheOnly || transportRequest.isRangeContinuation
            || policy != .reload && !transportRequest.headerFields.isConditional
    }

    /// A Boolean value that indicates whether a complete stored response can be used, and not only a beginning.
    var usesCompleteResponses: Bool { !transportRequest.isRangeContinuation || policy == .cacheOnly }

    // MARK: Decisions

    /// Returns the decision about the most recent stored response from `source`; `nil` if there is none.
    ///
    /// With `revalidatesLater`, the caller revalidates a stale response that is served for that reason.
    func decision(
        about stored: StoredResponse?, from source: ResponseSource, at now: Int, revalidatesLater: Bool = false
    ) -> CacheDecision? {
        let stored = stored.flatMap { isRetry && $0.head.isFailure ? nil : $0 }
        guard let stored else { return policy == .cacheOnly ? .refuse : nil }
        let step = step(stored, at: now)
        switch step {
        case .serve: return .serve(reply(stored, from: source, at: now))
        case .fail: return .refuse
        case .validate, .fetch:
            if revalidatesLater, policy.servesWhileRevalidating(stored.head, asked: asked, now: now) {
                return .serve(reply(stored, from: source, at: now, needsRevalidation: true))
            }
            return step == .validate ? .revalidate(stored) : .fetch(standIn: stored)
        }
    }

    /// Returns whether a stored response that answers the request is served without asking the origin.
    func serves(_ stored: StoredResponse, at now: Int) -> Bool { step(stored, at: now) == .serve }

    /// Returns whether the body of a reply is no longer than the request accepts.
    func accepts(_ reply: StoredReply) -> Bool { reply.stored.body.length <= transportRequest.maximumBodyBytes }

    private func step(_ stored: StoredResponse, at now: Int) -> CachePolicy.Step {
        policy.step(stored: stored.head, asked: asked, now: now)
    }

    private var asked: CacheControl { CacheControl(transportRequest.headerFields, isRequest: true) }

    // MARK: Replies

    /// Returns a stored response for use without asking the origin, with its age (RFC 9111, section 5.1).
    func reply(
        _ stored: StoredResponse, from source: ResponseSource, at now: Int, needsRevalidation: Bool = false
    ) -> StoredReply {
        let age = stored.head.freshness.age(at: now)
        return StoredReply(
            stored: stored, head: head(stored.head, age: age, at: now, stored.body), source: source,
            needsRevalidation: needsRevalidation)
    }

    /// Returns a stored response that a 304 confirms; `nil` if that is for another version (RFC 9111, section 4.3.4).
    func reply(
        _ stored: StoredResponse, confirmedBy head: ResponseHead, requestedAt: Int, receivedAt: Int
    ) -> StoredReply? {
        let response = head.response
        let storedHead = stored.head.parsed
        let (old, new) = (storedHead.fields.bytes(of: .eTag), response.headerFields.bytes(of: .eTag))
        let isSame = old == nil || new == nil || old?.strongPart == new?.strongPart
        guard !transportRequest.isRedirected(head), isSame else { return nil }
        let update = storedHead.updated(
            by: response, to: transportRequest, requestedAt: requestedAt, receivedAt: receivedAt)
        return StoredReply(
            stored: stored, head: self.head(update, age: nil, at: receivedAt, stored.body), source: .revalidated,
            update: update)
    }

    /// Returns the head of a response to serve at a time; `age` is `nil` if the origin has just confirmed it.
    private func head(_ stored: StoredHead, age: Int?, at now: Int, _ body: StoredBody) -> ResponseHead {
        ResponseHead(
            AgedResponse(stored: stored, age: age, length: body.length), url: transportRequest.url,
            redirectCount: transportRequest.followedRedirects ?? 0, receivedAt: now)
    }

    /// Returns the error of a request that has no response.
    func error(_ reason: TransportError.Reason) -> TransportError {
        TransportError(url: transportRequest.url.string, reason: reason)
    }

    // MARK: Redirects

    /// Returns the request to which a stored redirect leads; `nil` if a cache does not apply to it.
    func target(of redirect: StoredReply) -> CacheRequest? {
        var request = transportRequest
        let count = request.followedRedirects ?? 0
        request.followedRedirects = count
        let target = try? RedirectRule.next(after: redirect.head.response, of: request, redirectCount: count)
        return target.flatMap { CacheRequest($0, policy: policy, isRetry: isRetry) }
    }
}
