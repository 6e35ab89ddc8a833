import HTTPTypes

@testable import HTTPTransport

/// Passes frames of a server to an HTTP/2 session of a client, between steps of the client.
///
/// The first byte is the size of the pieces that the session receives; 0 means any size. The second byte is the number
/// of bytes after it that are the reactions to calls of the delegate. Records follow (see ``HTTP2Record``).
func receiveFrames(_ bytes: [UInt8]) {
    guard bytes.count >= 2 else { return }
    let reactionEnd = min(bytes.count, 2 + Int(bytes[1]))
    guard let client = FrameClient(reactions: Array(bytes[2..<reactionEnd])) else { return }
    for _ in 0..<3 { client.open() }
    let size = bytes[0] == 0 ? Int.max : Int(bytes[0])
    for record in HTTP2Record.records(in: bytes[reactionEnd...]) {
        switch record {
        case .bytes(let bytes): client.receive(bytes, inPiecesOf: size)
        case .step(let kind, let value): client.perform(kind, value)
        }
    }
    client.finish()
}

/// A part of an input: bytes that a server sends, or a step of the client.
///
/// A record begins with four bytes: its kind, flags, the number of a stream, and the length of its payload.
enum HTTP2Record {
    case bytes([UInt8])
    case step(UInt8, UInt8)

    /// The maximum size of all bytes together: repeated frames could take too long.
    private static let limit = 2 << 20

    static func records(in input: ArraySlice<UInt8>) -> [HTTP2Record] {
        var records: [HTTP2Record] = []
        var rest = input
        var latest: [UInt8] = []
        var total = 0
        while rest.count >= 4, total < limit {
            let head = Array(rest.prefix(4))
            rest = rest.dropFirst(4)
            switch head[0] % 16 {
            // The types of RFC 9113, and an unknown one.
            case let type where type <= 10:
                let payload = rest.prefix(Int(head[3]))
                rest = rest.dropFirst(payload.count)
                latest = [0, 0, UInt8(payload.count), type, head[1], 0, 0, 0, head[2]] + payload
            case 11:
                // A body of up to 1 MB.
                let count = min(Int(head[3]) << 12, limit - total)
                for start in stride(from: 0, to: count, by: 16_384) {
                    let size = min(16_384, count - start)
                    let frame = [0, UInt8(size >> 8), UInt8(size & 0xFF), 0, 0, 0, 0, 0, head[2]]
                    records.append(.bytes(frame + Array(repeating: head[1], count: size)))
                    total += 9 + size
                }
                continue
            case 12:
                // The previous frame again and again.
                let count = latest.isEmpty ? 0 : min(Int(head[3]) << 6, (limit - total) / latest.count)
                records.append(.bytes(Array(repeatElement(latest, count: count).joined())))
                total += count * latest.count
                continue
            case 13:
                latest = Array(rest.prefix(Int(head[3])))
                rest = rest.dropFirst(latest.count)
            default:
                records.append(.step(head[1], head[2]))
                continue
            }
            records.append(.bytes(latest))
            total += latest.count
        }
        return records
    }

    /// Returns all bytes that the server sends.
    static func bytes(in input: ArraySlice<UInt8>) -> [UInt8] {
        records(in: input).flatMap { record in
            guard case .bytes(let bytes) = record else { return [UInt8]() }
            return bytes
        }
    }
}

/// A client that checks that each call of its session is allowed, and reacts as an input says.
private final class FrameClient: HTTP2SessionDelegate {
    private let session: HTTP2Session
    private var reactions: ArraySlice<UInt8>
    /// The streams that are open, and the number of bytes of each body.
    private var streams: [Int32: (unconsumed: Int, consumed: Int)] = [:]
    private var hasFailed = false
    private var mayBeCalled = false
    private var pieces = 0

    /// The number of pieces after which bytes are received at once: each takes microseconds with address sanitizer.
    private static let maximumPieces = 20_000
    private static let request = TransportRequest(url: plainURL)

    init?(reactions: [UInt8]) {
        guard let session = try? HTTP2Session() else { return nil }
        self.session = session
        self.reactions = reactions[...]
        session.delegate = self
    }

    func open() {
        let canOpen = session.canOpenStream
        do throws(HTTP2Failure) {
            let stream = try session.open(Self.request)
            precondition(canOpen && streams[stream] == nil)
            streams[stream] = (0, 0)
        } catch {
            precondition(!canOpen)
        }
        precondition(session.streamCount <= HTTP2Session.maximumStreams)
    }

    func receive(_ bytes: [UInt8], inPiecesOf size: Int) {
        var start = 0
        while start < bytes.count {
            let rest = bytes.count - start
            let end = start + (pieces < Self.maximumPieces ? min(size, rest) : rest)
            pieces += 1
            mayBeCalled = true
            do throws(HTTP2Failure) {
                try session.receive(bytes.span.extracting(start..<end))
                precondition(!hasFailed)
            } catch {
                hasFailed = true
                precondition(session.failure == error && !session.canOpenStream)
            }
            mayBeCalled = false
            start = end
        }
    }

    /// Performs a step of the client outside of a call.
    func perform(_ kind: UInt8, _ value: UInt8) {
        if kind % 8 == 7 { return send(upTo: Int(value)) }
        act(kind, on: Int32(value))
    }

    /// Sends what there is, or at most `count` bytes if that is not 0.
    private func send(upTo count: Int) {
        var total = 0
        mayBeCalled = true
        session.sendPending { bytes in
            let sent = count == 0 ? bytes.count : min(bytes.count, count)
            total += sent
            return sent
        }
        mayBeCalled = false
        // What the peer asks for must not fill the memory.
        precondition(total < 1 << 20)
    }

    /// Ends the exchange, and checks that nothing is left.
    func finish() {
        send(upTo: 0)
        for stream in streams.keys { session.cancel(stream) }
        precondition(session.streamCount == 0)
        streams = [:]
        send(upTo: 0)
        precondition(!session.wantsToSend)
    }

    func receive(headerLines: Span<UInt8>, of stream: Int32) {
        precondition(mayBeCalled && !hasFailed && streams[stream] != nil)
        precondition(headerLines.count < 2 * ResponseHeadParser.limit)
        var previous: UInt8 = 0
        for index in headerLines.indices {
            let byte = headerLines[index]
            precondition(byte != 0 && (byte == 0x0A) == (previous == 0x0D), "no line can be injected")
            previous = byte
        }
        react(to: stream)
    }

    func receive(body: Span<UInt8>, of stream: Int32) {
        guard var counts = streams[stream] else { preconditionFailure("a stream that is not open") }
        precondition(mayBeCalled && !hasFailed)
        counts.unconsumed += body.count
        streams[stream] = counts
        let initialSize = HTTP2StreamWindow.initialSize
        precondition(counts.unconsumed <= (counts.consumed < initialSize ? initialSize : HTTP2StreamWindow.maximumSize))
        react(to: stream)
    }

    func end(of stream: Int32, _ end: HTTP2StreamEnd) {
        precondition(mayBeCalled && !hasFailed && streams.removeValue(forKey: stream) != nil)
        react(to: stream)
    }

    private func react(to stream: Int32) {
        guard let reaction = reactions.popFirst() else {
            return consume(.max, of: stream)
        }
        act(reaction, on: reaction < 128 ? stream : Int32(reaction >> 3 & 0xF))
    }

    private func act(_ kind: UInt8, on stream: Int32) {
        switch kind % 8 {
        case 1:
            consume(.max, of: stream)
        case 2:
            session.cancel(stream)
            streams[stream] = nil
        case 3: open()
        case 4: consume(1, of: stream)
        case 5: consume(-1, of: stream)
        case 6:
            for stream in streams.keys { session.cancel(stream) }
            streams = [:]
        case 7:
            // Does nothing while the delegate is called.
            session.sendPending { bytes in preconditionFailure("\(bytes.count) bytes are sent within a call") }
        default: break
        }
    }

    /// Consumes bytes, which can be more than have arrived.
    private func consume(_ count: Int, of stream: Int32) {
        if let counts = streams[stream] {
            let consumed = max(0, min(count, counts.unconsumed))
            streams[stream] = (counts.unconsumed - consumed, counts.consumed + consumed)
        }
        session.consume(count, of: stream)
    }
}
