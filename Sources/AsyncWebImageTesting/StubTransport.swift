public import HTTPTransport
public import HTTPTypes
public import ImageCodecs
import ImageEncoders
import Threading

/// A transport that answers requests with the responses that a test has defined for their URLs, without a network.
///
/// ```swift
/// import AsyncWebImageTesting
///
/// let transport = StubTransport(["https://example.com/a.json": .init(body: Array("{}".utf8))])
/// let loader = ImageLoader(transport: transport)
/// let data = try await loader.data(for: ImageRequest("https://example.com/a.json"))
/// ```
public final class StubTransport: Transport {
    /// A response, or a failure.
    public struct Response: Sendable {
        /// The status.
        public var status: HTTPResponse.Status
        /// The header fields.
        public var headerFields: HTTPFields
        /// The pieces in which the body arrives; empty ones are skipped.
        public var pieces: [[UInt8]]
        /// The reason why the transfer fails after the pieces; `nil` for a complete response.
        ///
        /// Without pieces, it fails before its head.
        public var failure: TransportError.Reason?
        /// The time before the head and before each piece but the first, measured with the clock of the transport.
        public var delay: Duration

        /// Creates a response whose body arrives in pieces.
        public init(
            status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], pieces: [[UInt8]],
            failure: TransportError.Reason? = nil, delay: Duration = .zero
        ) {
            self.status = status
            self.headerFields = headerFields
            self.pieces = pieces
            self.failure = failure
            self.delay = delay
        }

        /// Creates a response whose body arrives in one piece.
        public init(
            status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:], body: [UInt8] = [],
            delay: Duration = .zero
        ) {
            self.init(status: status, headerFields: headerFields, pieces: [body], delay: delay)
        }

        /// Returns a response whose body is a file of an image; throws ``CodecError`` if the format cannot store it.
        public static func image(_ pixels: PixelBuffer, as format: ImageFormat = .png) throws -> Response {
            Response(headerFields: [.contentType: format.mediaType], body: try pixels.encoded(as: format))
        }

        /// Returns a failure without a response.
        public static func failure(_ reason: TransportError.Reason, delay: Duration = .zero) -> Response {
            Response(pieces: [], failure: reason, delay: delay)
        }
    }

    private struct State {
        var responses: [String: [Response]] = [:]
        var requests: [TransportRequest] = []
    }

    private let state = Locked(State())
    private let clock: any Clock<Duration>

    /// Creates a transport with one response for each URL, which is repeated; `clock` measures delays.
    public init(_ responses: [String: Response] = [:], clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
        for (url, response) in responses { respond(to: url, with: [response]) }
    }

    /// Sets the responses to the requests for `url`, in order; the last one is repeated.
    ///
    /// Requests for a URL without responses fail with ``TransportError/Reason-swift.enum/hostNotFound``.
    public func respond(to url: String, with responses: [Response]) {
        let url = (try? HTTPURL(url))?.string ?? url
        state.withLock { $0.responses[url] = responses }
    }

    /// The requests so far, in order.
    public var requests: [TransportRequest] { state.withLock { $0.requests } }

    /// See `Transport`.
    public func start(_ request: TransportRequest, receiver: any TransferReceiver) -> any Transfer {
        let response = state.withLock { state -> Response? in
            state.requests.append(request)
            let url = request.url.string
            guard let next = state.responses[url]?.first else { return nil }
            if let remaining = state.responses[url], remaining.count > 1 { state.responses[url]?.removeFirst() }
            return next
        }
        return StubTransfer(request, response, receiver, clock)
    }
}

/// The transfer of one response.
private final class StubTransfer: Transfer {
    private let task: Task<Void, Never>
    private let resumption: AsyncStream<Void>.Continuation

    init(
        _ request: TransportRequest, _ response: StubTransport.Response?, _ receiver: any TransferReceiver,
        _ clock: any Clock<Duration>
    ) {
        let (resumptions, resumption) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.resumption = resumption
        // Detached: a transfer belongs to no caller's task.
        task = Task.detached {
            do {
                receiver.finish(try await Self.deliver(response, to: request, receiver, resumptions, clock))
            } catch let error as TransportError {
                receiver.finish(.failed(error))
            } catch {
                receiver.finish(.failed(TransportError(url: request.url.string, reason: .cancelled)))
            }
        }
    }

    func cancel() { task.cancel() }

    func resume() { resumption.yield() }

    private static func deliver(
        _ response: StubTransport.Response?, to request: TransportRequest, _ receiver: any TransferReceiver,
        _ resumptions: AsyncStream<Void>, _ clock: some Clock<Duration>
    ) async throws -> TransferOutcome {
        let url = request.url.string
        guard let response else {
            throw TransportError(url: url, reason: .hostNotFound, detail: "the test has no response for this URL")
        }
        func wait() async throws {
            if response.delay > .zero { try await clock.sleep(for: response.delay) }
            try Task.checkCancellation()
        }
        try await wait()
        if response.pieces.isEmpty, let failure = response.failure { throw TransportError(url: url, reason: failure) }
        receiver.receive(
            ResponseHead(
                response: HTTPResponse(status: response.status, headerFields: response.headerFields),
                url: request.url))
        var resumed = resumptions.makeAsyncIterator()
        var received = 0
        for piece in response.pieces where !piece.isEmpty {
            if received > 0 { try await wait() }
            received += piece.count
            guard received <= request.maximumBodyBytes else {
                throw TransportError(url: url, reason: .bodyTooLarge(limit: request.maximumBodyBytes))
            }
            offer: while true {
                switch receiver.receive(piece.span) {
                case .more: break offer
                case .stop: return .stopped(TransferMetrics())
                // The next element may be outdated: then the piece is rejected again.
                case .pause: if await resumed.next() == nil { throw CancellationError() }
                }
            }
        }
        if let failure = response.failure { throw TransportError(url: url, reason: failure) }
        return .complete(TransferMetrics())
    }
}
