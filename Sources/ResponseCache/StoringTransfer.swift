import HTTPSemantics
import HTTPTransport
import HTTPTypes
import Threading

/// The transfer over the network for a ``CachingTransfer``: stores what passes by, and knows when something stored is the
/// answer instead.
final class StoringTransfer: Transfer, TransferReceiver {
    /// What follows.
    enum End: Sendable {
        /// The receiver has had its response, or there is none.
        case over(TransferOutcome)
        /// What is stored is the response.
        case serve(StoredReply, TransferMetrics)
        /// The answer was about something else than what is stored: everything is to be asked for.
        case askAnew
    }

    struct State {
        var isCancelled = false
        var isResumed = false
        var inner: (any Transfer)?
        var sentAt = 0
        /// Whether the receiver has had a head.
        var hasHead = false
        var writer: EntryWriter?
        /// What hands over the body, if its beginning was stored.
        var joined: JoinedBody?
        /// What follows, if the response is not for the receiver.
        var sequel: End?
        var end: (@Sendable (End) -> Void)?
    }

    let lookUp: CacheLookUp
    private let decision: CacheDecision
    private let transport: any Transport
    let receiver: any ResponseReceiver
    let state: Locked<State>

    /// The receiver has head and body of a response that is for it; `end` is called once.
    init(
        _ decision: CacheDecision, for lookUp: CacheLookUp, over transport: any Transport,
        receiver: any ResponseReceiver, end: @escaping @Sendable (End) -> Void
    ) {
        self.lookUp = lookUp
        self.decision = decision
        self.transport = transport
        self.receiver = receiver
        state = Locked(State(end: end))
    }

    func start() {
        var request = lookUp.request
        switch decision {
        case .revalidate(let stored): ResponseVersion(stored.head.fields)?.add(to: &request.headerFields)
        case .resume(let part): request = part.request(insteadOf: request)
        case .fetch, .serve, .refuse: break
        }
        let now = lookUp.cache.now()
        state.withLock { $0.sentAt = now }
        let inner = transport.start(request, receiver: self)
        let (isCancelled, isResumed) = state.withLock { state in
            // It may have ended already.
            if state.end != nil { state.inner = inner }
            return (state.isCancelled, state.isResumed)
        }
        if isCancelled { inner.cancel() }
        if isResumed { inner.resume() }
    }

    func cancel() {
        let (inner, joined) = state.withLock { state in
            state.isCancelled = true
            return (state.inner, state.joined)
        }
        inner?.cancel()
        joined?.cancel()
    }

    func resume() {
        let (inner, joined) = state.withLock { state in
            state.isResumed = true
            return (state.inner, state.joined)
        }
        inner?.resume()
        joined?.resume()
    }

    // MARK: The transport's thread

    func receive(_ head: ResponseHead) {
        let (now, sentAt) = (lookUp.cache.now(), state.withLock { $0.sentAt })
        if case .resume(let part) = decision {
            let whole = part.whole(
                with: head, to: lookUp.request.forEverything, requestedAt: sentAt, receivedAt: now)
            if let whole { return goOn(with: part, whole, head) }
            if head.isAboutRange { remove(part) }
        }
        if let sequel = sequel(of: head, sentAt: sentAt, now: now) { return state.withLock { $0.sequel = sequel } }
        let writer = writer(for: head, sentAt: sentAt, now: now)
        state.withLock { ($0.hasHead, $0.writer) = (true, writer) }
        receiver.receive(head, from: .network)
    }

    /// What follows if the response is not for the receiver; nil if it is.
    private func sequel(of head: ResponseHead, sentAt: Int, now: Int) -> End? {
        if case .resume(let part) = decision, !part.isRequested, head.isAboutRange { return .askAnew }
        guard let stored = decision.stored else { return nil }
        if case .revalidate = decision, head.status == .notModified {
            let reply = lookUp.renewed(stored, by: head, requestedAt: sentAt, receivedAt: now)
            return reply.map { .serve($0, TransferMetrics()) } ?? .askAnew
        }
        guard Self.failures.contains(head.status.code), stored.head.freshness.mayStandIn(at: now) else { return nil }
        return .serve(lookUp.aged(stored), TransferMetrics())
    }

    /// The answers that a stored response may stand in for (RFC 5861, section 4).
    private static let failures: Set<Int> = [500, 502, 503, 504]

    private func writer(for head: ResponseHead, sentAt: Int, now: Int) -> EntryWriter? {
        let (request, key, cache) = (lookUp.request.forEverything, lookUp.key, lookUp.cache)
        if lookUp.request.asksForRest, head.isAboutRange { return nil }
        guard request.allowsStoring(head), head.contentLength ?? 0 <= cache.configuration.entryLimit else {
            // What is stored is not what the origin has now, and this cannot take its place.
            let isOutdated = head.status.kind == .successful || [404, 410].contains(head.status.code)
            if isOutdated, head.redirectCount == 0 { cache.thread.append { cache.removeEntries(key) } }
            return nil
        }
        if case .resume(let part) = decision { remove(part) }
        let stored = StoredHead(head.response, to: request, requestedAt: sentAt, receivedAt: now)
        return EntryWriter(stored, key, cache: cache, length: head.contentLength)
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        let (isForReceiver, writer, joined) = state.withLock { ($0.hasHead, $0.writer, $0.joined) }
        guard isForReceiver else { return .stop }
        let demand = joined?.receive(bytes) ?? receiver.receive(bytes)
        // What is refused is offered again; behind what nobody wants, nothing comes.
        if case .more = demand { writer?.append(bytes) }
        return demand
    }

    func finish(_ outcome: TransferOutcome) {
        let (isCancelled, hasHead, sequel, writer, joined) = state.withLock { state in
            defer { (state.inner, state.writer, state.sequel) = (nil, nil, nil) }
            return (state.isCancelled, state.hasHead, state.sequel, state.writer, state.joined)
        }
        if case .complete = outcome { writer?.commit() } else { writer?.keep() }
        if let joined { return joined.finish(outcome) }
        guard !isCancelled || hasHead else { return end(.over(lookUp.failure(.cancelled))) }
        switch (sequel, outcome) {
        case (.serve(let reply, _)?, .complete(let metrics)): end(.serve(reply, metrics))
        case (let sequel?, _): end(sequel)
        case (nil, .complete), (nil, .stopped): end(.over(outcome))
        case (nil, .failed(let error)):
            guard !hasHead, error.isRetryable, let stored = decision.stored,
                stored.head.freshness.mayStandIn(at: lookUp.cache.now())
            else { return end(.over(outcome)) }
            end(.serve(lookUp.aged(stored), TransferMetrics()))
        }
    }

    func end(_ end: End) {
        let tell = state.withLock { state in
            // The transfer again, which holds this one: `start` may have set it since it ended.
            defer { (state.end, state.inner, state.joined) = (nil, nil, nil) }
            return state.end
        }
        tell?(end)
    }
}
