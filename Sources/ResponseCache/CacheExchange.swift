import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// The handling of one request with a cache: with stored responses, and with those of another responder.
struct CacheExchange {
    private let lookup: CacheLookup
    private let next: any Responder
    private var cache: ResponseCache { lookup.cache }

    init(_ lookup: CacheLookup, _ next: any Responder) {
        self.lookup = lookup
        self.next = next
    }

    /// Returns the response that a decision of the cache leads to.
    func response(_ decision: CacheDecision) async throws -> IncomingResponse {
        var decision = decision
        while true {
            if let response = try await answer(decision) { return response }
            // The stored response cannot be used.
            guard lookup.policy != .cacheOnly else { throw lookup.error(.notCached) }
            decision = .fetch(standIn: nil)
        }
    }

    /// Returns the response that a decision leads to, or `nil` if the complete response must be requested.
    ///
    /// A response that cannot be used has been released by then.
    private func answer(_ decision: CacheDecision) async throws -> IncomingResponse? {
        switch decision {
        case .serve(let reply):
            let response = try await serve(reply)
            if !decision.isRead { cache.uses.record(response == nil ? .miss : .hit) }
            return response
        case .refuse: throw lookup.error(.notCached)
        case .revalidate, .resume, .fetch, .followRedirect: break
        }
        let requestedAt = cache.now()
        let response: IncomingResponse
        do {
            response = try await next.response(to: decision.request(insteadOf: lookup.request))
        } catch let error as TransportError where error.isRetryable {
            guard let stored = standIn(decision) else { throw error }
            return try await serve(lookup.aged(stored))
        }
        let times = (requestedAt: requestedAt, receivedAt: cache.now())
        switch decision {
        case .revalidate(let stored) where response.head.status == .notModified:
            // The metrics are known at the end.
            _ = try? await response.body.next()
            let reply = lookup.renewed(
                stored, by: response.head, requestedAt: times.requestedAt, receivedAt: times.receivedAt)
            guard let reply else { return nil }
            return try await serve(reply, response.body.metrics)
        case .resume(let part):
            let whole = part.whole(
                with: response.head, to: lookup.request.withoutRange, requestedAt: times.requestedAt,
                receivedAt: times.receivedAt)
            if let whole { return resume(part, whole, response) }
            guard response.head.isAboutRange else { break }
            remove(part)
            if !part.isRequested { return nil }
        default:
            guard Self.failures.contains(response.head.status.code), let stored = standIn(decision) else { break }
            return try await serve(lookup.aged(stored))
        }
        return storing(response, decision, times)
    }

    /// The statuses instead of which a stale response may be used (`stale-if-error`; RFC 5861, section 4).
    private static let failures: Set<Int> = [500, 502, 503, 504]

    /// Returns the stored response that may be used instead of a failed one (`stale-if-error`).
    private func standIn(_ decision: CacheDecision) -> StoredResponse? {
        decision.stored.flatMap { !$0.head.isFailure && $0.head.freshness.mayStandIn(at: cache.now()) ? $0 : nil }
    }

    // MARK: Stored responses

    /// Returns a stored response, or `nil` if its first piece is damaged.
    ///
    /// Throws an error if the body is longer than the request accepts, as a transport does.
    private func serve(
        _ reply: StoredReply, _ metrics: TransferMetrics = TransferMetrics()
    ) async throws -> IncomingResponse? {
        guard lookup.accepts(reply) else {
            throw lookup.error(.bodyTooLarge(limit: lookup.request.maximumBodyBytes))
        }
        var reply = reply
        if let renewal = reply.renewal {
            let renewed = await cache.thread.run { [lookup, reply] in lookup.renewed(reply, renewal) }
            guard let renewed else { return nil }
            reply = renewed
        }
        let body = StoredSource(reply.stored, in: cache, metrics: metrics)
        guard (try? await body.readAhead()) != nil else { return nil }
        return IncomingResponse(head: reply.head, source: reply.source, body: body)
    }

    /// Returns a response whose beginning is stored and whose remainder is being received.
    private func resume(_ part: StoredPart, _ whole: StoredHead, _ response: IncomingResponse) -> IncomingResponse {
        let head = ResponseHead(
            response: whole.response, url: response.head.url, redirectCount: response.head.redirectCount)
        var response = response
        if lookup.request.withoutRange.allowsStoring(head, receivedAt: whole.receivedAt), isStorable(head) {
            let writer = EntryWriter(
                whole, lookup.key, cache: cache, length: whole.contentLength, continuing: part.stored)
            response.body = StoringBody(response.body, by: writer)
        } else {
            remove(part)
        }
        guard !part.isRequested else { return response }
        let beginning = StoredSource(part.stored, in: cache)
        return IncomingResponse(head: head, source: .network, body: JoinedBody(beginning, then: response.body))
    }

    private func remove(_ part: StoredPart) {
        cache.thread.append { [cache] in cache.remove(part.stored.name) }
    }

    // MARK: Storing

    /// Returns a response unchanged; if it may be stored, its body is stored while it is pulled.
    private func storing(
        _ response: IncomingResponse, _ decision: CacheDecision, _ times: (requestedAt: Int, receivedAt: Int)
    ) -> IncomingResponse {
        let (request, key, head) = (lookup.request.withoutRange, lookup.key, response.head)
        if lookup.request.isRangeContinuation, head.isAboutRange { return response }
        guard request.allowsStoring(head, receivedAt: times.receivedAt), isStorable(head) else {
            // The stored response is outdated, and this one cannot replace it.
            let isOutdated = head.status.kind == .successful || [404, 410].contains(head.status.code)
            if !head.isAboutRange, isOutdated, !request.isRedirected(head) {
                cache.thread.append { [cache] in cache.removeEntries(key) }
            }
            return response
        }
        if case .resume(let part) = decision { remove(part) }
        var response = response
        var stored = StoredHead(
            head.response, to: request, requestedAt: times.requestedAt, receivedAt: times.receivedAt)
        if head.redirection != nil {
            // The body of a redirect is not delivered.
            stored.fields[.contentLength] = nil
        }
        let writer = EntryWriter(stored, key, cache: cache, length: stored.contentLength)
        response.body = StoringBody(response.body, by: writer)
        return response
    }

    private func isStorable(_ head: ResponseHead) -> Bool {
        // Without these credentials, the redirect could lead elsewhere.
        if head.redirection?.addsCredentials == true { return false }
        return head.contentLength ?? 0 <= cache.configuration.maximumEntryBytes
    }
}

extension CacheDecision {
    /// The request to send.
    fileprivate func request(insteadOf request: TransportRequest) -> TransportRequest {
        var request = request
        switch self {
        case .revalidate(let stored): ResponseVersion(stored.head.fields)?.add(to: &request.headerFields)
        case .resume(let part): request = part.request(insteadOf: request)
        case .fetch, .serve, .followRedirect, .refuse: break
        }
        return request
    }
}

extension ResponseHead {
    /// A Boolean value that indicates whether the status refers to a range: 206 or 416.
    fileprivate var isAboutRange: Bool { status == .partialContent || status == .rangeNotSatisfiable }
}
