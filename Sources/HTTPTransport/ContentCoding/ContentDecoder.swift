import Threading

/// A receiver that decodes a body for another one, although no coding was requested: some servers store files encoded, and
/// send them so to everyone.
///
/// Servers also claim codings that their bodies do not have. So the beginning decides, before the head is delivered: a body
/// that does not begin as its coding demands is passed on as it is. The head of a decoded body has no length; its
/// `Content-Encoding` remains, and says that the body's version cannot be continued.
///
/// Decoding takes one buffer, whose content is delivered before it is filled again: a receiver that pauses stops it in the
/// middle of a piece.
final class ContentDecoder: TransferReceiver {
    /// The number of bytes that decide.
    static let probeSize = 64
    /// The size of the buffer, more than the largest result of the deciding bytes: deflate makes at most 1,032 bytes of
    /// one.
    static let bufferSize = 68 << 10

    private let next: any TransferReceiver
    private let state: Locked<State>

    /// Creates a decoder of the codings of a response's body; returns `nil` if it has none.
    ///
    /// `limit` is the maximum number of decoded bytes.
    static func decoder(
        of codings: [ContentCoding], url: HTTPURL, limit: Int, before receiver: any TransferReceiver
    ) -> ContentDecoder? {
        codings.reduce(nil) { decoder, coding in
            ContentDecoder(coding, url: url, limit: limit, before: decoder ?? receiver)
        }
    }

    private init(_ coding: ContentCoding, url: HTTPURL, limit: Int, before receiver: any TransferReceiver) {
        next = receiver
        state = Locked(State(coding: coding, url: url, limit: limit))
    }

    /// Returns whether the data have ended after `count` decoded bytes, which have all been delivered.
    func hasEnded(after count: Int) -> Bool {
        state.withLock { state in
            guard case .ended = state.mode, state.failure == nil else { return false }
            return state.pending == 0 && state.delivered == count
        }
    }

    func receive(_ head: ResponseHead) {
        state.withLock { $0.head = head }
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        state.withLock { [next] in $0.receive(bytes, next) }
    }

    func finish(_ outcome: TransferOutcome) {
        let outcome = state.withLock { [next] in $0.outcome(outcome, next) }
        next.finish(outcome)
    }
}

extension ContentDecoder {
    fileprivate enum Mode {
        /// The beginning is being collected.
        case undecided
        /// The body is passed on.
        case raw
        case decoding(Inflater)
        /// The data have ended; what follows is ignored, except for further gzip data.
        case ended(Inflater)
    }

    fileprivate struct State {
        let coding: ContentCoding
        let url: HTTPURL
        let limit: Int
        var head: ResponseHead?
        var mode = Mode.undecided
        var probe: [UInt8] = []
        var buffer: [UInt8] = []
        /// The number of bytes in the buffer that have not been delivered.
        var pending = 0
        /// The number of bytes that have been taken of those that are offered again after a pause.
        var taken = 0
        var delivered = 0
        var failure: TransportError?
    }
}

extension ContentDecoder.State {
    mutating func receive(_ bytes: Span<UInt8>, _ next: any TransferReceiver) -> BodyDemand {
        var position = min(taken, bytes.count)
        let furtherTaken = taken - position
        taken = 0
        if case .undecided = mode {
            let end = min(bytes.count, position + ContentDecoder.probeSize - probe.count)
            probe.append(copying: bytes.extracting(position..<end))
            position = end
            guard probe.count == ContentDecoder.probeSize else { return .more }
            decide(next)
        }
        while failure == nil {
            switch deliver(next) {
            case .more: break
            case .stop: return .stop
            case .pause:
                taken = position + furtherTaken
                return .pause
            }
            guard position < bytes.count else {
                taken = furtherTaken
                return .more
            }
            if case .raw = mode {
                let demand = next.receive(bytes.extracting(position...))
                if case .pause = demand { taken = position }
                return demand
            }
            decode(bytes, at: &position)
        }
        return .stop
    }

    /// Delivers the bytes in the buffer.
    private mutating func deliver(_ next: any TransferReceiver) -> BodyDemand {
        guard pending > 0 else { return .more }
        let demand = next.receive(buffer.span.extracting(0..<pending))
        if case .more = demand {
            delivered += pending
            pending = 0
        }
        return demand
    }

    /// Decides by the first bytes whether they are encoded, and delivers the head.
    private mutating func decide(_ next: any TransferReceiver) {
        let probe = probe
        for format in coding.formats {
            guard let inflater = Inflater(format), !probe.isEmpty else { continue }
            mode = .decoding(inflater)
            buffer = [UInt8](repeating: 0, count: ContentDecoder.bufferSize)
            var position = 0
            while position < probe.count, failure == nil { decode(probe.span, at: &position) }
            // Too many bytes are not a sign of another format.
            if failure == nil || failure?.reason == .bodyTooLarge(limit: limit) { break }
            (mode, failure, pending) = (.raw, nil, 0)
        }
        switch mode {
        case .raw, .ended: break
        // Of a short body, everything is known.
        case .decoding where probe.count < ContentDecoder.probeSize && failure == nil: mode = .raw
        case .decoding: break
        case .undecided: mode = .raw
        }
        if case .raw = mode { (buffer, pending) = (probe, probe.count) }
        self.probe = []
        if let head { next.receive(isRaw ? head : head.withoutLength) }
    }

    private var isRaw: Bool {
        if case .raw = mode { true } else { false }
    }

    /// Decodes bytes up to the end of the buffer.
    private mutating func decode(_ bytes: Span<UInt8>, at position: inout Int) {
        let inflater: Inflater
        switch mode {
        case .undecided, .raw: return
        case .decoding(let own): inflater = own
        case .ended(let own):
            // Gzip data can consist of several members (RFC 1952, section 2.2).
            guard case .gzip = coding, bytes[position] == 0x1F else { return position = bytes.count }
            own.reset()
            mode = .decoding(own)
            inflater = own
        }
        let before = position + pending
        switch inflater.inflate(bytes, at: &position, to: &buffer, at: &pending) {
        case .atEnd: mode = .ended(inflater)
        case .needsMore where position + pending > before: break
        case .needsMore, .damaged: fail(.invalidResponse, "the content coding \(coding) of the body is damaged")
        }
        if pending > limit - delivered { fail(.bodyTooLarge(limit: limit)) }
    }

    private mutating func fail(_ reason: TransportError.Reason, _ detail: String? = nil) {
        failure = TransportError(url: url.string, reason: reason, detail: detail)
    }

    /// Returns the outcome to report; delivers a body that ends before its coding was decided.
    mutating func outcome(_ outcome: TransferOutcome, _ next: any TransferReceiver) -> TransferOutcome {
        if case .undecided = mode {
            decide(next)
            if case .complete(let metrics) = outcome, failure == nil {
                switch deliver(next) {
                case .more: break
                case .stop: return .stopped(metrics)
                // It cannot wait for the receiver anymore.
                case .pause: fail(.truncated(expected: nil, received: 0))
                }
            }
        }
        if let failure { return .failed(failure) }
        guard case .decoding = mode else { return isRaw ? outcome : withoutLength(outcome) }
        guard case .complete = outcome else { return withoutLength(outcome) }
        fail(.truncated(expected: nil, received: delivered), "in the content coding \(coding) of the body")
        return failure.map { .failed($0) } ?? outcome
    }

    /// Returns an outcome with the number of decoded bytes: the length that was declared is that of the encoded ones.
    private func withoutLength(_ outcome: TransferOutcome) -> TransferOutcome {
        guard case .failed(let error) = outcome, case .truncated = error.reason else { return outcome }
        return .failed(
            TransportError(
                url: error.url, reason: .truncated(expected: nil, received: delivered), detail: error.detail))
    }
}
