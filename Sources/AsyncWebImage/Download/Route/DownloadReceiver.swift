import HTTPSemantics
import HTTPTransport
import HTTPTypes
import Threading
import ResponseCache

/// Takes one response, on a thread of the transport or of the response cache, or in the task of a ``PulledTransfer``:
/// the body of a success goes into the log, of a failure only the beginning is kept.
final class DownloadReceiver: DirectBodyReceiver {
    /// The reason why the attempt ended without the whole body.
    enum Failure {
        case failed(ImageError)
        /// The server did not continue the body, or the stored part is damaged: the whole body must be requested.
        case notContinued
    }

    /// The treatment of received bytes.
    fileprivate enum Use {
        case body
        case failureText
        case none
    }

    fileprivate struct State {
        var head: ResponseHead?
        var source = ResponseSource.network
        /// The origin that has responded, once the transfer has ended.
        var peer: DownloadMachine.Peer?
        var use = Use.none
        /// The reason why there will be no body, regardless of the transfer's outcome.
        var failure: Failure?
        var failedBody: [UInt8] = []
        var failedBytes = 0
        var completion: (@Sendable () -> Void)?

        /// A Boolean value that indicates whether there is a failure; unlike a comparison with `nil`, it makes no copy.
        var hasFailed: Bool {
            if case .some = failure { true } else { false }
        }
    }

    /// The number of bytes of an error response's text that are kept.
    private static let maximumTextBytes = 1 << 10
    /// The number of bytes of an error response's body that are read to keep the connection.
    private static let maximumDiscardBytes = 64 << 10

    private let log: BodyLog
    private let url: HTTPURL
    private let rules: ResponseRules
    /// The partial body that the request continues, if any.
    private let continued: Resumption?
    /// A Boolean value that indicates whether the bytes are not the server's, which excludes continuing them.
    private let isTransformed: Bool
    /// A Boolean value that indicates whether nothing else limits the length of the body.
    private let limitsBody: Bool
    /// A Boolean value that indicates whether 304 is a valid response: the caller has the current version.
    private let isConditional: Bool
    /// A Boolean value that indicates whether 206 is a valid response: the caller has requested a part.
    private let isPartRequested: Bool
    private let events: DownloadEventSender?
    private let state: Locked<State>

    init(
        url: HTTPURL, log: BodyLog, rules: ResponseRules, continuing: Resumption? = nil, isTransformed: Bool = false,
        isOfSource: Bool = false, isConditional: Bool = false, isPartRequested: Bool = false,
        events: DownloadEventSender? = nil, completion: @escaping @Sendable () -> Void
    ) {
        self.isPartRequested = isPartRequested
        self.url = url
        self.log = log
        self.rules = rules
        continued = continuing
        self.isTransformed = isTransformed
        // A transport knows the limit, but the body can be larger than the data that it receives.
        limitsBody = continuing != nil || isTransformed || isOfSource
        self.isConditional = isConditional
        self.events = events
        state = Locked(State(completion: completion))
    }

    /// A Boolean value that indicates whether all callers need only the properties of the file; `nil` without callers.
    var needsOnlyBeginning: Bool? { log.needsOnlyBeginning }

    /// A Boolean value that indicates whether little of the body has been received, all of it is kept here, and no caller
    /// needs more than its beginning so far.
    var keepsBeginning: Bool {
        guard case .body = state.withLock({ $0.use }) else { return false }
        return log.isShort && needsOnlyBeginning != false
    }

    /// The pieces of the body received so far; `nil` if its beginning has been discarded.
    var beginning: [[UInt8]]? { log.beginning?.pieces }

    // MARK: The response

    /// Returns whether the response with this head has a wanted body.
    func accepts(_ head: ResponseHead) -> Bool {
        if head.status == .partialContent, !isPartRequested {
            return continued?.isContinued(by: head) ?? rules.acceptsPart(head)
        }
        return (isPartRequested && head.status == .partialContent || rules.accepts(head.status))
            && rules.acceptsType(of: head)
    }

    func receive(_ head: ResponseHead) { receive(head, from: .network, length: head.contentLength) }

    /// The head of a response whose body comes from `source`, and is `length` bytes long if that is known.
    func receive(_ head: ResponseHead, from source: ResponseSource, length: Int?) {
        events?.send(.response(head))
        state.withLock { $0.source = source }
        guard accepts(head) else { return refuse(head) }
        if head.status == .partialContent, let continued {
            log.proceed(with: continued.stored, to: continued.total(with: head), head: continued.head, from: source)
            // The original head is kept, as for a response that was never interrupted.
            state.withLock { state in (state.head, state.use) = (continued.head, .body) }
        } else {
            log.begin(expecting: length ?? lengthOfUnrequestedPart(head), head: head, from: source)
            state.withLock { state in (state.head, state.use) = (head, .body) }
        }
    }

    /// Returns the length of the body of a partial response to a request for everything, unless the body was decoded.
    private func lengthOfUnrequestedPart(_ head: ResponseHead) -> Int? {
        guard head.status == .partialContent, !isPartRequested, head.response.headerFields[.contentEncoding] == nil
        else { return nil }
        return ResponseRules.wholeLength(of: head)
    }

    /// Takes the whole stored response of a first attempt; returns `false` if there is no memory for it at the moment.
    func takes(_ reply: StoredReply, _ body: [UInt8]) -> Bool {
        guard log.takesBytes else { return false }
        events?.send(.started(attempt: 1))
        receive(reply.head, from: reply.source, length: body.count)
        // As with a transport, a piece has bytes.
        switch body.isEmpty ? .more : receive(whole: body) {
        case .more: finish(.complete(TransferMetrics()))
        case .stop: finish(.stopped(TransferMetrics()))
        // Something else has filled the memory in between.
        case .pause: return false
        }
        return true
    }

    private func refuse(_ head: ResponseHead) {
        let isPart = head.status == .partialContent || head.status == .rangeNotSatisfiable
        state.withLock { state in
            state.head = head
            if isPart, continued != nil {
                state.failure = .notContinued
            } else if isConditional, head.status == .notModified {
                state.failure = .failed(.notModified(head))
            } else if rules.accepts(head.status) {
                state.failure = .failed(.unacceptableType(head))
            } else {
                state.use = .failureText
            }
        }
    }

    /// Receives the whole body of a response whose head has just been received, without copying it.
    func receive(whole body: [UInt8]) -> BodyDemand {
        guard case .body = state.withLock({ $0.use }), continued == nil, !isTransformed, log.received == 0,
            body.count <= rules.maximumBodyBytes
        else { return receive(body.span) }
        let demand = log.append(whole: body)
        if let events, case .more = demand { events.send(log.progress) }
        return demand
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        switch state.withLock({ $0.use }) {
        case .none: return .stop
        case .body:
            if limitsBody, log.received > rules.maximumBodyBytes - bytes.count {
                let error = TransportError(url: url.string, reason: .bodyTooLarge(limit: rules.maximumBodyBytes))
                state.withLock { $0.failure = .failed(.transport(error)) }
                return .stop
            }
            let demand = log.append(bytes)
            if let events, case .more = demand { events.send(log.progress) }
            return demand
        case .failureText:
            return state.withLock { state in
                state.failedBytes += bytes.count
                let room = Self.maximumTextBytes - state.failedBody.count
                if room > 0 { state.failedBody.append(copying: bytes.extracting(0..<min(room, bytes.count))) }
                return state.failedBytes < Self.maximumDiscardBytes ? .more : .stop
            }
        }
    }

    func receive(upTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand? {
        guard case .body = state.withLock({ $0.use }), continued == nil, !isTransformed else { return nil }
        let demand = log.append(upTo: count, reading: read)
        if let events, case .more = demand { events.send(log.progress) }
        return demand
    }

    // MARK: The end

    func finish(_ outcome: TransferOutcome) {
        let progress = log.progress
        let (success, completion) = state.withLock { state in
            state.peer = state.head.flatMap { DownloadMachine.Peer($0, outcome.metrics) }
            if !state.hasFailed {
                state.failure = state.failure(
                    of: outcome, url: url.string, progress, isContinued: continued != nil,
                    isTransformed: isTransformed)
            }
            return (state.hasFailed ? nil : state.head, state.completion.take())
        }
        if let success, let metrics = outcome.metrics {
            log.finish(.success(Delivery(head: success, metrics: metrics)))
        }
        completion?()
    }

    /// Ends the attempt for a reason that lies in this process.
    func end(because failure: Failure) {
        let completion = state.withLock { state in
            if !state.hasFailed { state.failure = failure }
            return state.completion.take()
        }
        completion?()
    }

    /// The origin that has responded; `nil` until the transfer has ended, and if it has failed or used no network.
    var peer: DownloadMachine.Peer? { state.withLock { $0.peer } }

    /// The reason why the body is incomplete; `nil` if it is complete.
    var failure: Failure? { state.withLock { $0.failure } }

    /// A Boolean value that indicates whether the response is a stored one, which the origin has declared fresh.
    var isRemembered: Bool {
        switch state.withLock({ $0.source }) {
        case .disk, .responseCacheMemory: true
        case .network, .source, .joined, .revalidated, .imageCache: false
        }
    }

    /// Returns the resumption after the bytes of the body before `position`; `nil` if it cannot be continued.
    ///
    /// The log can contain more by now, or another body. If a continued body has received no more data, the resumption
    /// is unchanged.
    func resumption(after position: BodyPosition) -> Resumption? {
        // A stored body is complete or missing. A part that the caller has requested begins elsewhere in the file.
        guard log.source == .network, !isTransformed, !isPartRequested else { return nil }
        let (head, use, failure) = state.withLock { ($0.head, $0.use, $0.failure) }
        if case .notContinued? = failure { return nil }
        guard use == .body, let head else {
            // A continued body without stored bytes is in the log, which may have been discarded.
            guard let continued, continued.stored != nil || continued.offset == position.count else { return nil }
            return continued
        }
        // The log starts over before the head is stored, which can therefore be that of a later body than these bytes.
        guard log.lastPosition.restarts == position.restarts else { return nil }
        return Resumption(head, offset: position.count, total: log.progress.expected)
    }
}

extension DownloadReceiver.State {
    // Mutating only so that it is called without a copy.
    fileprivate mutating func failure(
        of outcome: TransferOutcome, url: String, _ progress: DownloadProgress, isContinued: Bool, isTransformed: Bool
    ) -> DownloadReceiver.Failure? {
        // The status is more informative than the interruption of its text.
        if use == .failureText, let head { return .failed(.status(head, text: head.text(of: failedBody))) }
        switch outcome {
        case .failed(let error):
            return .failed(.transport(isTransformed ? error : error.counting(progress.received)))
        case .complete, .stopped:
            guard use == .body else { return .failed(.transport(TransportError(url: url, reason: .connectionLost))) }
            guard progress.received > 0 else {
                return .failed(
                    head.map { .emptyBody($0) } ?? .transport(TransportError(url: url, reason: .connectionLost)))
            }
            // A part without its own length can be shorter or longer than declared.
            guard case .complete = outcome, let expected = progress.expected, progress.received != expected else {
                return nil
            }
            if progress.received > expected, isContinued { return .notContinued }
            let reason =
                progress.received > expected
                ? TransportError.Reason.invalidResponse
                : .truncated(expected: expected, received: progress.received)
            return .failed(.transport(TransportError(url: url, reason: reason)))
        }
    }
}

extension DownloadMachine.Peer {
    /// The sender of a response with this head, whose transfer has ended; `nil` if its protocol is unknown.
    fileprivate init?(_ head: ResponseHead, _ metrics: TransferMetrics?) {
        guard let metrics, !metrics.protocolName.isEmpty else { return nil }
        let host = head.url.isOfSource ? "\(head.url.scheme):" : head.url.host
        self.init(host: host, isMultiplexed: !metrics.protocolName.hasPrefix("HTTP/1"))
    }
}

extension TransferOutcome {
    fileprivate var metrics: TransferMetrics? {
        switch self {
        case .complete(let metrics), .stopped(let metrics): metrics
        case .failed: nil
        }
    }
}

extension TransportError {
    /// Returns the error with the bytes of earlier attempts added.
    fileprivate func counting(_ received: Int) -> TransportError {
        guard case .truncated(let expected, let last) = reason, received > last else { return self }
        return TransportError(
            url: url, reason: .truncated(expected: expected.map { $0 + (received - last) }, received: received),
            detail: detail)
    }
}

extension ResponseHead {
    /// Returns the body as text, if the server declares it as text.
    fileprivate func text(of body: [UInt8]) -> String {
        let type = response.headerFields[.contentType] ?? ""
        guard type.hasPrefix("text/") || type.hasPrefix("application/json") else { return "" }
        return String(decoding: body, as: UTF8.self)
    }
}
