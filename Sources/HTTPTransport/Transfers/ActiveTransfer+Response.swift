import HTTPTypes

// The header lines and the body of a response, as they arrive.
extension ActiveTransfer {
    /// The received part of a hop's response.
    struct Incoming {
        fileprivate var parser = ResponseHeadParser()
        fileprivate var discardedBytes = 0
        /// The next request, if the response is a redirect.
        fileprivate(set) var redirected: TransportRequest?
        /// A 401 that can be answered by Digest, or with a credential of the provider.
        fileprivate(set) var challenge: RawResponseHead?

        /// A Boolean value that indicates whether another request follows.
        var isIntermediate: Bool { redirected != nil || challenge != nil }

        /// Parses header lines, of which only the last one can complete the final head; also returns whether one of
        /// them begins or ends it.
        ///
        /// With `answersChallenge`, libcurl answers a challenge itself, so that another head can follow it.
        fileprivate mutating func take(
            lines: Span<UInt8>, answersChallenge: Bool
        ) -> (event: ResponseHeadParser.Event, isProgress: Bool) {
            var isProgress = false
            var start = 0
            while start < lines.count {
                let lineFeed = lines.firstIndex(of: UInt8(ascii: "\n"), in: start..<lines.count)
                let end = lineFeed.map { $0 + 1 } ?? lines.count
                let wasInFinalHead = parser.isInFinalHead
                let event = take(line: lines.extracting(start..<end), answersChallenge: answersChallenge)
                if parser.isInFinalHead != wasInFinalHead { isProgress = true }
                guard case .needsMore = event else { return (event, isProgress) }
                start = end
            }
            return (.needsMore, isProgress)
        }

        private mutating func take(line: Span<UInt8>, answersChallenge: Bool) -> ResponseHeadParser.Event {
            // Otherwise, the line is a trailer of the challenge.
            if answersChallenge, challenge != nil, line.beginsResponse {
                challenge = nil
                parser.expectAnotherResponse()
            }
            return parser.append(line)
        }
    }

    /// The part that has been delivered to the receiver.
    struct Delivered {
        fileprivate(set) var hasHead = false
        fileprivate(set) var expectedBytes: Int?
        fileprivate(set) var bodyBytes = 0
    }

    /// The maximum number of bytes of a redirect's own body that are read, for at most
    /// ``TransferClock/maximumDiscardTime``, to keep the connection; otherwise the connection is closed.
    static let maximumDiscardBytes = 64 << 10

    /// Takes complete header lines, or one that is too long and may have no end; returns `false` to abort.
    func receive(headerLines: Span<UInt8>) -> Bool {
        guard !handle.isCancelled else { return fail(.cancelled) }
        let (event, isProgress) = incoming.take(
            lines: headerLines, answersChallenge: credential?.isNegotiated == true)
        // The start and the end of the final head count as progress. Interim responses, single fields, and trailers
        // do not extend the deadline, regardless of their number.
        if isProgress, clock.phase != .discarding { enter(.receiving) }
        switch event {
        case .needsMore: return true
        case .refused(let reason, let detail): return fail(reason, detail: detail)
        case .complete(let head): return receive(head)
        }
    }

    private func receive(_ raw: RawResponseHead) -> Bool {
        if raw.status.kind == .redirection {
            do {
                incoming.redirected = try RedirectRule.next(
                    after: raw.response, of: request, redirectCount: redirectCount,
                    addsCredentials: credential != nil || showsCertificate)
            } catch {
                abortReason = .failed(error)
                return false
            }
            guard incoming.redirected == nil else {
                if request.followedRedirects != nil {
                    let redirection = ResponseHead.Redirection(addsCredentials: credential != nil || showsCertificate)
                    deliver(raw, redirection)
                }
                discardBody()
                return true
            }
        }
        if raw.status == .unauthorized, credential != nil || mayAskProvider {
            // libcurl would repeat most of them in its answer: a server must not inject such bytes into requests.
            if credential?.isNegotiated == true, raw.hasControlCharacter(inFieldsNamed: "www-authenticate") {
                return fail(.authenticationFailed, detail: "the challenge has control characters")
            }
            incoming.challenge = raw
            // To answer over the same connection, libcurl reads the body to its end itself.
            if credential?.isNegotiated != true { discardBody() }
            return true
        }
        // In a tunnel, the response would be the origin's own.
        if usesProxy, !request.url.isSecure, raw.status == .proxyAuthenticationRequired {
            return fail(.authenticationFailed, detail: "by the proxy")
        }
        return deliver(raw)
    }

    /// Delivers the response with the challenge that could not be answered.
    func deliverChallenge() {
        if let challenge = incoming.challenge { deliver(challenge) }
    }

    @discardableResult
    private func deliver(_ raw: RawResponseHead) -> Bool {
        let hasBody = request.method != .head && raw.status != .noContent && raw.status != .notModified
        if hasBody, let length = raw.contentLength {
            guard length <= request.maximumBodyBytes else {
                return fail(.bodyTooLarge(limit: request.maximumBodyBytes))
            }
            delivered.expectedBytes = length
        }
        if hasBody, raw.hasContentEncoding { decoder = decoder(of: raw) }
        deliver(raw, nil)
        return true
    }

    /// Returns the decoder of the body of a response, if that is encoded; part of an encoded body cannot be decoded.
    private func decoder(of raw: RawResponseHead) -> ContentDecoder? {
        guard raw.status != .partialContent || request.headerFields[.range] == nil else { return nil }
        return ContentDecoder.decoder(
            of: ContentCoding.codings(of: raw.response), url: request.url, limit: request.maximumBodyBytes,
            before: handle.receiver)
    }

    private func deliver(_ raw: RawResponseHead, _ redirection: ResponseHead.Redirection?) {
        delivered.hasHead = true
        learnProtocol()
        receiver.receive(
            ResponseHead(
                raw, url: request.url, redirectCount: redirectCount, redirection: redirection,
                delay: (sent ?? start).duration(to: .now)))
    }

    /// Takes a part of the body, unless the result is `pause`; after `stop`, the exchange must be ended.
    func receive(body: Span<UInt8>) -> BodyDemand {
        guard !handle.isCancelled else {
            fail(.cancelled)
            return .stop
        }
        if pausesForOthers() { return .pause }
        if incoming.isIntermediate {
            if clock.phase != .discarding { enter(.receiving) }
            incoming.discardedBytes += body.count
            return incoming.discardedBytes <= Self.maximumDiscardBytes ? .more : .stop
        }
        guard delivered.hasHead else {
            fail(.invalidResponse)
            return .stop
        }
        guard body.count <= request.maximumBodyBytes - delivered.bodyBytes else {
            fail(.bodyTooLarge(limit: request.maximumBodyBytes))
            return .stop
        }
        let demand = receiver.receive(body)
        switch demand {
        case .more:
            delivered.bodyBytes += body.count
            enter(.receiving)
        case .pause:
            enter(.paused)
        case .stop:
            delivered.bodyBytes += body.count
            abortReason = .stopped
        }
        return demand
    }

    /// Lets the receiver take the next bytes of the body, at most `count`, to its own memory; returns `nil` if they must
    /// be delivered instead.
    func receive(bodyUpTo count: Int, reading read: (inout OutputSpan<UInt8>) -> Void) -> BodyDemand? {
        let count = min(count, request.maximumBodyBytes - delivered.bodyBytes)
        guard let receiver = handle.directReceiver, decoder == nil, delivered.bodyBytes > 0, count > 0,
            !handle.isCancelled
        else { return nil }
        var received = 0
        let demand = receiver.receive(upTo: count) { output in
            let before = output.count
            read(&output)
            received = output.count - before
        }
        delivered.bodyBytes += received
        switch demand {
        case .more where received > 0: enter(.receiving)
        case .more, nil: break
        case .pause: enter(.paused)
        case .stop: abortReason = .stopped
        }
        return demand
    }
}

extension Span<UInt8> {
    /// A Boolean value that indicates whether a header line is the first line of a response.
    fileprivate var beginsResponse: Bool {
        count > 5 && self[0] == UInt8(ascii: "H") && self[1] == UInt8(ascii: "T") && self[2] == UInt8(ascii: "T")
            && self[3] == UInt8(ascii: "P") && self[4] == UInt8(ascii: "/")
    }
}
