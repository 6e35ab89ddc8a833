import CNghttp2
import HTTPTypes

/// The client's side of a connection in HTTP/2 (RFC 9113).
///
/// An object without input or output: it is given the bytes of a connection as they arrive, and returns the bytes to
/// send. It accepts no pushed responses. Received bytes never block other streams, because the window of the connection
/// is opened at once, and the one of a stream when its receiver has consumed them.
///
/// Confined to one thread.
final class HTTP2Session {
    private struct Stream {
        var window = HTTP2StreamWindow()
        var hasResponse = false
        /// A Boolean value that indicates whether the peer has sent everything.
        var isComplete = false
        /// A Boolean value that indicates whether this side ends the stream because of its response.
        var isRejected = false
        /// The fault of an invalid frame in the words of nghttp2; empty if there is none.
        var fault = ""
        /// The number of bytes of the DATA frames that have begun, which have their lengths in front.
        var announcedBytes = 0
    }

    /// The maximum number of streams at a time, which the peer can lower.
    static let maximumStreams = 100
    /// The maximum size of a request, as RFC 9113, section 6.5.2 defines it, which the peer can lower; nghttp2 sends no
    /// larger ones.
    static let maximumRequestSize = 64 << 10
    /// The number of bytes of all bodies that the peer may send before they have arrived.
    static let connectionWindow = 16 << 20
    /// The maximum number of bytes after which a head, a part of a body, or the end of a stream must be complete.
    static let maximumUnproductiveBytes = 1 << 20
    /// The maximum number of answers that the peer requires and does not read.
    static let maximumAnswers = 1_000
    /// The maximum length of a statement about an invalid field, which contains the field.
    static let maximumFaultSize = 200

    /// The receiver of the responses.
    weak var delegate: (any HTTP2SessionDelegate)?
    /// A Boolean value that indicates whether the peer's settings have arrived; until then, its limit on streams is
    /// unknown.
    private(set) var hasPeerSettings = false
    /// The peer's announcement to close the connection; `nil` if there is none.
    private(set) var peerClose: HTTP2Close?

    private let framing: NGHTTP2Session
    private var requestFields = HTTP2RequestFields()
    private var streams: [Int32: Stream] = [:]
    /// The lines of the present header block.
    private var lines: [UInt8] = []
    /// The stream of the present header block; 0 if nothing needs its lines.
    private var blockStream: Int32 = 0
    /// The fault of a field in the present header block, in the words of nghttp2; empty if there is none.
    private var fieldFault = ""
    /// The bytes to send, of which ``sentCount`` have been sent.
    private var output: [UInt8] = []
    private var sentCount = 0
    /// The number of answers in the output.
    private var answerCount = 0
    private var unproductiveCount = 0
    /// A Boolean value that indicates whether the peer knows this side's settings.
    private var isAcknowledged = false
    private var isCalled = false
    /// The reason why the connection must be closed; `nil` if there is none.
    private(set) var failure: HTTP2Failure?

    init() throws(HTTP2Failure) {
        let settings = [
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, HTTP2StreamWindow.initialSize),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, ResponseHeadParser.limit),
        ]
        framing = try NGHTTP2Session(settings: settings, maximumAnswers: Self.maximumAnswers)
        framing.setWindow(Self.connectionWindow, of: 0)
        framing.report(to: self)
    }

    /// A Boolean value that indicates whether another stream can be opened now.
    var canOpenStream: Bool {
        !isDraining && streams.count < min(Self.maximumStreams, framing.peerStreamLimit)
    }

    /// A Boolean value that indicates whether no more streams can be opened, so that the connection is of no use when
    /// the last one has ended.
    var isDraining: Bool { failure != nil || !framing.allowsRequests }

    /// The number of streams that have neither ended nor been canceled.
    var streamCount: Int { streams.count }

    /// Opens a stream for `request`; returns its number.
    func open(_ request: TransportRequest) throws(HTTP2Failure) -> Int32 {
        if let failure { throw failure }
        guard canOpenStream else { throw .noStream }
        requestFields.set(request)
        let limit = min(Self.maximumRequestSize, framing.peerRequestLimit)
        guard requestFields.size <= limit else { throw .requestTooLarge(limit: limit) }
        let stream = try framing.submit(requestFields)
        streams[stream] = Stream()
        return stream
    }

    /// Ends a stream, for which the delegate is not called anymore.
    func cancel(_ stream: Int32) {
        guard streams.removeValue(forKey: stream) != nil else { return }
        expectRemainder(of: stream)
        framing.reset(stream, .cancel)
    }

    /// Sets the number of the next stream, for tests.
    func setNextStream(_ stream: Int32) {
        framing.setNextStream(stream)
    }

    /// Records that the receiver has consumed `count` bytes of the body.
    func consume(_ count: Int, of stream: Int32) {
        guard let consumed = streams[stream]?.window.consume(count) else { return }
        framing.consume(consumed, of: stream)
        // Until then, nghttp2 has another initial size.
        if isAcknowledged, streams[stream]?.window.grow() == true, let size = streams[stream]?.window.size {
            framing.setWindow(size, of: stream)
        }
    }
}

// MARK: - Input and output

extension HTTP2Session {
    /// Takes received bytes, and calls the delegate.
    ///
    /// If it throws, the connection must be closed, and the delegate is not called anymore.
    func receive(_ bytes: Span<UInt8>) throws(HTTP2Failure) {
        precondition(!isCalled, "the delegate must not receive")
        if let failure { throw failure }
        unproductiveCount += bytes.count
        isCalled = true
        let status = framing.receive(bytes)
        isCalled = false
        if status < 0 {
            let failure = NGHTTP2Session.failure(status)
            if case .flood = failure { fail(failure, .enhanceYourCalm) } else { fail(failure, .internalError) }
        }
        // This also ends the streams that nghttp2 has rejected.
        collect()
        if unproductiveCount > Self.maximumUnproductiveBytes { fail(.flood("no response"), .enhanceYourCalm) }
        if answerCount > Self.maximumAnswers { fail(.flood("unread answers"), .enhanceYourCalm) }
        if let failure {
            collect()
            throw failure
        }
    }

    /// A Boolean value that indicates whether there are bytes to send.
    var wantsToSend: Bool { sentCount < output.count || framing.wantsToSend }

    /// Passes bytes to `send`, which returns the number of bytes that it has sent, until there are none left or it
    /// returns fewer than it was given.
    ///
    /// Does nothing while the delegate is called.
    func sendPending<Failure>(_ send: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) {
        guard !isCalled else { return }
        while true {
            collect()
            let count = output.count - sentCount
            guard count > 0 else { return }
            do {
                let bytes = output
                sentCount += max(0, min(try send(bytes.span.extracting(sentCount...)), count))
            }
            guard sentCount == output.count else { return }
            output.removeAll(keepingCapacity: true)
            (sentCount, answerCount) = (0, 0)
        }
    }

    /// Moves the bytes to send to the output.
    private func collect() {
        isCalled = true
        defer { isCalled = false }
        do throws(HTTP2Failure) {
            while try framing.takePending({ output.append(copying: $0) }) {}
        } catch {
            if failure == nil { failure = error }
        }
    }

    /// Ends the connection.
    private func fail(_ failure: HTTP2Failure, _ code: HTTP2ErrorCode) {
        guard self.failure == nil else { return }
        self.failure = failure
        framing.terminate(code)
    }
}

// MARK: - Callbacks

extension HTTP2Session {
    /// Begins a header block; returns `false` to end the connection.
    func beginHeaders(of stream: Int32, isPromise: Bool) -> Bool {
        guard !isPromise else {
            fail(.violation(.protocolError, "PUSH_PROMISE"), .protocolError)
            return false
        }
        lines.removeAll(keepingCapacity: true)
        fieldFault = ""
        blockStream = streams[stream] == nil ? 0 : stream
        return true
    }

    /// Takes a valid field of the header block; returns `false` to end the stream.
    func receiveField(name: Span<UInt8>, value: Span<UInt8>, of stream: Int32) -> Bool {
        guard stream == blockStream else { return true }
        if name.count > 0, name[0] == UInt8(ascii: ":") {
            lines.append(copying: "HTTP/2 ".utf8Span.span)
            lines.append(copying: value)
            lines.append(UInt8(ascii: " "))
        } else {
            lines.append(copying: name)
            lines.append(copying: ": ".utf8Span.span)
            lines.append(copying: value)
        }
        lines.append(copying: "\r\n".utf8Span.span)
        guard lines.count > ResponseHeadParser.limit else { return true }
        deliverLines(of: stream)
        return false
    }

    /// Takes the end of the header block.
    func endHeaders(of stream: Int32) {
        fieldFault = ""
        guard stream == blockStream else { return }
        lines.append(copying: "\r\n".utf8Span.span)
        deliverLines(of: stream)
    }

    private func deliverLines(of stream: Int32) {
        blockStream = 0
        guard streams[stream] != nil else { return }
        streams[stream]?.hasResponse = true
        recordProgress()
        let lines = lines
        delegate?.receive(headerLines: lines.span, of: stream)
    }

    /// Begins a frame with `count` bytes of a body.
    func beginBody(_ count: Int, of stream: Int32) {
        streams[stream]?.announcedBytes += count
    }

    /// Takes a part of a body.
    func receiveBody(_ bytes: Span<UInt8>, of stream: Int32) {
        framing.consumeOfConnection(bytes.count)
        guard streams[stream]?.window.receive(bytes.count) != nil else { return }
        recordProgress()
        delegate?.receive(body: bytes, of: stream)
    }

    /// Records that the peer has sent the whole response.
    func completeResponse(of stream: Int32) {
        streams[stream]?.isComplete = true
    }

    /// Takes what nghttp2 states about a field of the present header block.
    func noteFieldFault(_ text: String) {
        // A field that is only left out is no fault.
        guard !text.hasPrefix("Ignoring") else { return }
        fieldFault = text
    }

    /// Takes what nghttp2 states about an invalid frame of a stream.
    func noteFault(_ text: String, of stream: Int32) {
        streams[stream]?.fault = fieldFault.isEmpty ? text : fieldFault
        fieldFault = ""
    }

    /// Records that this side ends a stream.
    func reject(_ stream: Int32) {
        guard streams[stream] != nil else { return }
        streams[stream]?.isRejected = true
        expectRemainder(of: stream)
    }

    /// Takes the end of a stream.
    func endStream(_ number: Int32, _ code: HTTP2ErrorCode) {
        guard failure == nil, let stream = streams.removeValue(forKey: number) else { return }
        recordProgress()
        let end: HTTP2StreamEnd =
            if stream.isComplete, code == .noError {
                .complete
            } else if stream.isRejected {
                .invalid(code, stream.fault, announcedBytes: stream.announcedBytes)
            } else if code == .refusedStream, !stream.hasResponse {
                .refused
            } else if code == .http11Required, !stream.hasResponse {
                .requiresHTTP1
            } else {
                .reset(code)
            }
        delegate?.end(of: number, end)
    }

    /// Records that the peer knows this side's settings.
    func acknowledgeSettings() {
        isAcknowledged = true
    }

    /// Records that the peer's settings have arrived.
    func receiveSettings() {
        hasPeerSettings = true
    }

    /// Records that the peer closes the connection when the streams have ended.
    func peerCloses(_ close: HTTP2Close) {
        peerClose = close
    }

    /// Records that an answer is sent.
    func countAnswer() {
        answerCount += 1
    }

    /// Records that this side closes the connection.
    func close(_ code: HTTP2ErrorCode, _ reason: String) {
        if failure == nil { failure = .violation(code, reason) }
    }

    /// Allows for the bytes that the peer may have sent before it learns that a stream has ended.
    private func expectRemainder(of stream: Int32) {
        unproductiveCount = max(unproductiveCount - framing.remainingWindow(of: stream), -Self.connectionWindow)
    }

    private func recordProgress() {
        unproductiveCount = min(unproductiveCount, 0)
    }
}
