import HTTPTypes
import Testing

@testable import HTTPTransport

/// A client's session, what it has delivered, and its bytes.
final class HTTP2Exchange: HTTP2SessionDelegate {
    let session: HTTP2Session
    /// The header lines of each stream, one element for each call.
    private(set) var lines: [Int32: [String]] = [:]
    private(set) var bodies: [Int32: [UInt8]] = [:]
    /// The ends of streams, without what nghttp2 states about them.
    private(set) var ends: [Int32: HTTP2StreamEnd] = [:]
    /// The faults of invalid responses, in the words of nghttp2.
    private(set) var faults: [Int32: String] = [:]
    /// The number of calls of the delegate.
    private(set) var callCount = 0
    private(set) var failure: HTTP2Failure?
    /// A Boolean value that indicates whether parts of bodies are consumed when they arrive.
    var consumes = true
    /// A function that is called with the stream of each call.
    var onCall: (Int32) -> Void = { _ in }

    init() throws {
        session = try HTTP2Session()
        session.delegate = self
    }

    /// Opens a stream for a URL.
    func open(
        _ url: String = "https://a.example/", _ change: (inout TransportRequest) -> Void = { _ in }
    ) throws -> Int32 {
        var request = TransportRequest(url: try HTTPURL(url))
        change(&request)
        return try session.open(request)
    }

    /// Passes bytes to the session, in pieces of `size` bytes, until it fails.
    func receive(_ bytes: [UInt8], inPiecesOf size: Int = .max) {
        var rest = bytes[...]
        while !rest.isEmpty, failure == nil {
            let piece = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
            do throws(HTTP2Failure) { try session.receive(piece.span) } catch { failure = error }
        }
    }

    /// Returns the bytes that the session sends, at most `size` of them in a call.
    func takeOutput(inPiecesOf size: Int = .max) -> [UInt8] {
        var bytes: [UInt8] = []
        while session.wantsToSend {
            session.sendPending { piece in
                let count = min(piece.count, size)
                bytes.append(copying: piece.extracting(0..<count))
                return count
            }
        }
        return bytes
    }

    /// Exchanges bytes with `peer` until neither has any.
    func run(with peer: HTTP2Peer, inPiecesOf size: Int = .max) {
        while failure == nil {
            let sent = takeOutput()
            if !sent.isEmpty, !peer.receive(sent) { Issue.record("the peer rejects the client's bytes") }
            let received = peer.takeOutput()
            receive(received, inPiecesOf: size)
            if sent.isEmpty, received.isEmpty { return }
        }
    }

    func receive(headerLines: Span<UInt8>, of stream: Int32) {
        lines[stream, default: []].append(String(copying: headerLines))
        called(stream)
    }

    func receive(body: Span<UInt8>, of stream: Int32) {
        bodies[stream, default: []].append(copying: body)
        if consumes { session.consume(body.count, of: stream) }
        called(stream)
    }

    func end(of stream: Int32, _ end: HTTP2StreamEnd) {
        #expect(ends[stream] == nil, "a stream ends once")
        ends[stream] = end
        if case .invalid(let code, let fault, _) = end {
            (ends[stream], faults[stream]) = (.invalid(code), fault)
        }
        called(stream)
    }

    private func called(_ stream: Int32) {
        callCount += 1
        onCall(stream)
    }
}

extension String {
    fileprivate init(copying bytes: Span<UInt8>) {
        self.init(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
}
