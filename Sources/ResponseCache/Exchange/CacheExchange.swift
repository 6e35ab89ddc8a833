import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// The handling of one request with a cache: with stored responses, and with those of another responder.
struct CacheExchange {
    private let request: CacheRequest
    private let cache: ResponseCache
    private let next: any Responder
    /// The part of the body that is wanted; `nil` for all of it.
    private let interest: BodyInterest?

    init(_ request: CacheRequest, _ cache: ResponseCache, _ next: any Responder, _ interest: BodyInterest?) {
        self.interest = interest
        self.request = request
        self.cache = cache
        self.next = next
    }

    /// Returns the response that a decision of the cache leads to.
    func response(_ decision: CacheDecision) async throws -> IncomingResponse {
        var decision = decision
        while true {
            if let response = try await answer(decision) { return response }
            // The stored response cannot be used.
            guard request.policy != .cacheOnly else { throw request.error(.notCached) }
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
            if decision.use == nil { cache.uses.record(response == nil ? .miss : .hit) }
            return response
        case .refuse: throw request.error(.notCached)
        case .revalidate, .resume, .fetch, .undecided: break
        }
        var requestedAt = cache.now()
        let response: IncomingResponse
        do {
            response = try await next.response(to: decision.request(insteadOf: request.transportRequest))
        } catch let error as TransportError where error.isRetryable {
            guard let reply = standIn(decision) else { throw error }
            return try await serve(reply)
        }
        if let sentAt = response.requestedAt { requestedAt = sentAt }
        let times = (requestedAt: requestedAt, receivedAt: cache.now())
        switch decision {
        case .revalidate(let stored) where response.head.status == .notModified:
            // The metrics are known at the end.
            _ = try? await response.body.next()
            let reply = request.reply(
                stored, confirmedBy: response.head, requestedAt: times.requestedAt, receivedAt: times.receivedAt)
            guard let reply else { return nil }
            return try await serve(reply, response.body.metrics)
        case .resume(let part):
            let whole = part.whole(
                with: response.head, to: request.transportRequest.withoutRange, requestedAt: times.requestedAt,
                receivedAt: times.receivedAt)
            if let whole { return resume(part, whole, response) }
            guard response.head.isAboutRange else { break }
            remove(part)
            if !part.isRequested { return nil }
        default:
            guard Self.failures.contains(response.head.status.code), let reply = standIn(decision) else { break }
            return try await serve(reply)
        }
        return storing(response, decision, times)
    }

    /// The statuses instead of which a stale response may be used (`stale-if-error`; RFC 5861, section 4).
    private static let failures: Set<Int> = [500, 502, 503, 504]

    /// Returns the stored response that may be used instead of a failed one (`stale-if-error`).
    private func standIn(_ decision: CacheDecision) -> StoredReply? {
        let now = cache.now()
        guard let stored = decision.stored, !stored.head.isFailure, stored.head.freshness.mayStandIn(at: now) else {
            return nil
        }
        return request.reply(stored, from: cache.source, at: now)
    }

    // MARK: Stored responses

    /// Returns a stored response, or `nil` if its first piece is damaged.
    ///
    /// Throws an error if the body is longer than the request accepts, as a transport does.
    private func serve(
        _ reply: StoredReply, _ metrics: TransferMetrics = TransferMetrics()
    ) async throws -> IncomingResponse? {
        guard request.accepts(reply) else {
            throw request.error(.bodyTooLarge(limit: request.transportRequest.maximumBodyBytes))
        }
        var reply = reply
        if let update = reply.update {
            let stored = await cache.thread.run { [cache, resource = request.resource, stored = reply.stored] in
                try? cache.readIfShort(cache.update(stored, to: update, resource))
            }
            guard let stored else { return nil }
            reply.stored = stored
        }
        let body = StoredSource(reply.stored, in: cache, metrics: metrics)
        guard (try? await body.readAhead()) != nil else { return nil }
        return IncomingResponse(head: reply.head, source: reply.source, body: body)
    }

    /// Returns a response whose beginning is stored and whose remainder is being received.
    private func resume(_ part: StoredPart, _ whole: StoredHead, _ response: IncomingResponse) -> IncomingResponse {
        let head = ResponseHead(
            response: whole.response, url: response.head.url, redirectCount: response.head.redirectCount
        ).timed(requestedAt: whole.requestedAt, receivedAt: whole.receivedAt)
        var response = response
        if request.transportRequest.withoutRange.allowsStoring(head, receivedAt: whole.receivedAt),
            cache.isStorable(head), cache.fits(head)
        {
            let writer = EntryWriter(
                whole, request.resource, cache: cache, length: whole.contentLength, continuing: part.stored)
            response.body = StoringBody(response.body, by: writer)
        } else {
            remove(part)
        }
        guard !part.isRequested else { return response }
        let beginning = StoredSource(part.stored, in: cache)
        return IncomingResponse(head: head, source: .network, body: JoinedBody(beginning, then: response.body))
    }

    private func remove(_ part: StoredPart) {
        cache.thread.append { [cache] in cache.remove(part.stored.key) }
    }

    // MARK: Storing

    /// Returns a response with the times of the cache's clock; if it may be stored, its body is stored while it is pulled.
    private func storing(
        _ response: IncomingResponse, _ decision: CacheDecision, _ times: (requestedAt: Int, receivedAt: Int)
    ) -> IncomingResponse {
        var response = response
        response.head = response.head.timed(requestedAt: times.requestedAt, receivedAt: times.receivedAt)
        guard !(request.transportRequest.isRangeContinuation && response.head.isAboutRange),
            let writer = cache.writer(for: response.head, to: request)
        else { return response }
        if case .resume(let part) = decision { remove(part) }
        response.body = StoringBody(response.body, by: writer, interest: interest)
        return response
    }
}

extension CacheDecision {
    /// The request to send.
    fileprivate func request(insteadOf request: TransportRequest) -> TransportRequest {
        var request = request
        switch self {
        case .revalidate(let stored): ResponseVersion(stored.head.fields)?.add(to: &request.headerFields)
        case .resume(let part): request = part.request(insteadOf: request)
        case .fetch, .serve, .undecided, .refuse: break
        }
        return request
    }
}
