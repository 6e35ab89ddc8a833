import HTTPTransport
import HTTPTypes
import Threading

/// A transfer that the cache has a part in.
///
/// It looks for a stored response, asks over the network what it must, and hands over one response, stored or new. The
/// receiver is called by the cache's thread for what is stored and by the transport's for what is not, one after the
/// other: when one begins, the other has ended.
final class CachingTransfer: Transfer, TransferReceiver {
    /// What follows when the transfer over the network has ended.
    private enum Sequel {
        /// The receiver has its response.
        case none
        case serve(Serving)
        /// The answer was about something else than what is stored.
        case fetch
    }

    /// How a stored response is handed over.
    private struct Serving: Sendable {
        let stored: StoredResponse
        let head: ResponseHead
        let source: ResponseSource
        /// The head to store from now on.
        var renewal: StoredHead?
    }

    private struct State {
        var isCancelled = false
        var isResumed = false
        // Over the network.
        var inner: (any Transfer)?
        var isFetching = false
        var sentAt = 0
        var stored: StoredResponse?
        /// Whether the request asks if what is stored is still right.
        var isValidating = false
        var sequel = Sequel.none
        var hasHead = false
        var writer: EntryWriter?
        // From the cache.
        var serving: Serving?
        var metrics = TransferMetrics()
        var position = 0
        var offered: [UInt8]?
        var isPaused = false
    }

    private let request: TransportRequest
    private let key: CacheKey
    private let transport: any Transport
    private let cache: ResponseCache
    private let policy: CachePolicy
    private let note: @Sendable (ResponseSource) -> Void
    private let receiver: any TransferReceiver
    private let state = Locked(State())

    init(
        _ request: TransportRequest, over transport: any Transport, cache: ResponseCache, policy: CachePolicy,
        note: @escaping @Sendable (ResponseSource) -> Void, receiver: any TransferReceiver
    ) {
        self.request = request
        key = CacheKey(request)
        self.transport = transport
        self.cache = cache
        self.policy = policy
        self.note = note
        self.receiver = receiver
    }

    func start() {
        if policy == .reload || request.isConditional && policy != .cacheOnly {
            fetch(nil, validates: false)
        } else {
            cache.thread.append { self.lookUp() }
        }
    }

    func cancel() {
        let (inner, steps) = state.withLock { state in
            state.isCancelled = true
            defer { state.isPaused = false }
            return (state.inner, state.isPaused)
        }
        inner?.cancel()
        if steps { cache.thread.append { self.serveNext() } }
    }

    func resume() {
        let (inner, steps) = state.withLock { state in
            state.isResumed = true
            defer { state.isPaused = false }
            return (state.inner, state.isPaused)
        }
        inner?.resume()
        if steps { cache.thread.append { self.serveNext() } }
    }

    private var isCancelled: Bool { state.withLock { $0.isCancelled } }

    // MARK: What is stored

    private func lookUp() {
        guard !isCancelled else { return end(.failed(.cancelled(request))) }
        let stored = cache.find(request)
        let asked = CacheControl(request.headerFields, isRequest: true)
        switch policy.step(stored: stored?.head, asked: asked, now: cache.now()) {
        case .serve: if let stored { serve(aged(stored)) }
        case .validate: fetch(stored, validates: true)
        case .fetch: fetch(stored, validates: false)
        case .fail: end(.failed(.notCached(request)))
        }
    }

    /// A stored response as it is, without asking: with its age (RFC 9111, section 5.1).
    private func aged(_ stored: StoredResponse) -> Serving {
        var response = stored.head.response
        response.headerFields[.age] = "\(stored.head.freshness.age(at: cache.now()))"
        return Serving(stored: stored, head: head(response, stored), source: cache.source)
    }

    private func head(_ response: HTTPResponse, _ stored: StoredResponse) -> ResponseHead {
        var response = response
        response.headerFields[.contentLength] = "\(stored.body.length)"
        return ResponseHead(response: response, url: request.url)
    }

    private func serve(_ serving: Serving) {
        guard !isCancelled else { return end(.failed(.cancelled(request))) }
        state.withLock { $0.serving = serving }
        note(serving.source)
        receiver.receive(serving.head)
        serveNext()
    }

    /// Hands over some of the body, and comes back for more behind what else the thread has to do.
    private func serveNext() {
        for _ in 0..<4 where !serveOne() { return }
        cache.thread.append { self.serveNext() }
    }

    /// Hands over a piece; false if no other shall follow now.
    private func serveOne() -> Bool {
        guard !isCancelled else { return endServing(.failed(.cancelled(request))) }
        let (serving, position, offered, metrics) = state.withLock { ($0.serving, $0.position, $0.offered, $0.metrics) }
        guard let serving else { return false }
        var next = position
        let piece: [UInt8]?
        do {
            piece = try offered ?? serving.stored.body.next(&next)
        } catch {
            cache.remove(serving.stored.head.name(key))
            let reason = TransportError.Reason.truncated(expected: serving.stored.body.length, received: position)
            return endServing(.failed(TransportError(url: request.url.string, reason: reason)))
        }
        guard let piece else { return endServing(.complete(metrics)) }
        state.withLock { ($0.isResumed, $0.position, $0.offered) = (false, next, piece) }
        switch receiver.receive(piece.span) {
        case .more:
            state.withLock { $0.offered = nil }
            return true
        case .stop: return endServing(.stopped(metrics))
        case .pause:
            return state.withLock { state in
                if state.isResumed || state.isCancelled { return true }
                state.isPaused = true
                return false
            }
        }
    }

    private func endServing(_ outcome: TransferOutcome) -> Bool {
        if let serving = state.withLock({ $0.serving }), let renewal = serving.renewal {
            cache.renew(serving.stored, renewal, key)
        }
        end(outcome)
        return false
    }

    // MARK: The network

    private func fetch(_ stored: StoredResponse?, validates: Bool) {
        guard !isCancelled else { return end(.failed(.cancelled(request))) }
        var request = request
        if validates, let stored { ResponseVersion(stored.head.fields)?.add(to: &request.headerFields) }
        let now = cache.now()
        state.withLock { state in
            state.isFetching = true
            state.sentAt = now
            (state.stored, state.isValidating, state.sequel) = (stored, validates, .none)
        }
        let inner = transport.start(request, receiver: self)
        let (isCancelled, isResumed) = state.withLock { state in
            if state.isFetching { state.inner = inner }
            return (state.isCancelled, state.isResumed)
        }
        if isCancelled { inner.cancel() }
        if isResumed { inner.resume() }
    }

    func receive(_ head: ResponseHead) {
        let now = cache.now()
        let (stored, isValidating, sentAt) = state.withLock { ($0.stored, $0.isValidating, $0.sentAt) }
        if let stored {
            if isValidating, head.status == .notModified {
                let sequel = sequel(of: head, for: stored, sentAt: sentAt, now: now)
                return state.withLock { $0.sequel = sequel }
            }
            if Self.failures.contains(head.status.code), stored.head.freshness.mayStandIn(at: now) {
                let serving = aged(stored)
                return state.withLock { $0.sequel = .serve(serving) }
            }
        }
        let writer = writer(for: head, sentAt: sentAt, now: now)
        state.withLock { ($0.hasHead, $0.writer) = (true, writer) }
        note(.network)
        receiver.receive(head)
    }

    /// What a 304 means for what is stored (RFC 9111, section 4.3.4).
    private func sequel(of head: ResponseHead, for stored: StoredResponse, sentAt: Int, now: Int) -> Sequel {
        let response = head.response
        let (old, new) = (stored.head.fields[.eTag], response.headerFields[.eTag])
        let isSame = old == nil || new == nil || old?.strongPart == new?.strongPart
        guard head.redirectCount == 0, isSame else { return .fetch }
        let renewed = stored.head.renewed(by: response, to: request, requestedAt: sentAt, receivedAt: now)
        return .serve(
            Serving(
                stored: stored, head: self.head(renewed.response, stored), source: .revalidated, renewal: renewed))
    }

    private func writer(for head: ResponseHead, sentAt: Int, now: Int) -> EntryWriter? {
        guard Storability.allows(request, head), head.contentLength ?? 0 <= cache.configuration.entryLimit else {
            // What is stored is not what the origin has now, and this cannot take its place.
            let isOutdated = head.status.kind == .successful || [404, 410].contains(head.status.code)
            if isOutdated, head.redirectCount == 0 { cache.thread.append { [cache, key] in cache.removeEntries(key) } }
            return nil
        }
        let stored = StoredHead(head.response, to: request, requestedAt: sentAt, receivedAt: now)
        return EntryWriter(stored, key, cache: cache)
    }

    /// The answers that a stored response may stand in for (RFC 5861, section 4).
    private static let failures: Set<Int> = [500, 502, 503, 504]

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        let (isForReceiver, writer) = state.withLock { ($0.hasHead, $0.writer) }
        guard isForReceiver else { return .stop }
        let demand = receiver.receive(bytes)
        switch demand {
        case .more: writer?.append(bytes)
        case .pause: break  // to be offered again
        case .stop:
            writer?.abandon()
            state.withLock { $0.writer = nil }
        }
        return demand
    }

    func finish(_ outcome: TransferOutcome) {
        let (isCancelled, sequel, hasHead, stored, writer) = state.withLock { state in
            state.isFetching = false
            state.inner = nil
            defer { state.writer = nil }
            return (state.isCancelled, state.sequel, state.hasHead, state.stored, state.writer)
        }
        switch (sequel, outcome) {
        case (_, _) where isCancelled && !hasHead: end(.failed(.cancelled(request)))
        case (.serve(let serving), _):
            if case .complete(let metrics) = outcome { state.withLock { $0.metrics = metrics } }
            cache.thread.append { self.serve(serving) }
        case (.fetch, _): cache.thread.append { self.fetch(nil, validates: false) }
        case (.none, .failed(let error)):
            writer?.abandon()
            guard !hasHead, error.isRetryable, let stored, stored.head.freshness.mayStandIn(at: cache.now()) else {
                return end(outcome)
            }
            let serving = aged(stored)
            cache.thread.append { self.serve(serving) }
        case (.none, .complete):
            writer?.commit()
            end(outcome)
        case (.none, .stopped):
            writer?.abandon()
            end(outcome)
        }
    }

    /// The one way out.
    private func end(_ outcome: TransferOutcome) {
        state.withLock { ($0.stored, $0.serving, $0.offered) = (nil, nil, nil) }
        receiver.finish(outcome)
    }
}

extension TransportRequest {
    /// Whether it says itself what is known already; then the answer is the caller's to judge.
    var isConditional: Bool { headerFields.isConditional }
}

extension HTTPFields {
    /// Whether they ask for a response only if something has changed, or has not.
    var isConditional: Bool {
        [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange].contains {
            self.contains($0)
        }
    }
}

extension String {
    /// Of an entity tag what weak comparison looks at (RFC 9110, section 8.8.3.2).
    fileprivate var strongPart: Substring { hasPrefix("W/") ? dropFirst(2) : self[...] }
}

extension TransportError {
    fileprivate static func cancelled(_ request: TransportRequest) -> TransportError {
        TransportError(url: request.url.string, reason: .cancelled)
    }
}
