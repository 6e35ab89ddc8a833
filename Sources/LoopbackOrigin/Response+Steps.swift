internal import NIOCore
internal import NIOHTTP1

/// What a connection does next.
enum Step {
    /// Write the bytes, `bodyBytes` of which are the body's.
    case write(ByteBuffer, bodyBytes: Int)
    case hold(Gate)
    case pause(TimeAmount)
    /// Do nothing until the other side closes the connection.
    case stall
    /// Close (FIN) after everything written has left.
    case close
    /// Close by RST after everything written has left.
    case reset
    /// The answer is complete and the connection ready for the next request.
    case end
}

extension LoopbackOrigin.Response {
    /// No piece of a body is larger, so that a slow reader is noticed early.
    private static let largestPiece = 64 * 1_024

    /// The script as the steps that perform it.
    func steps(answering request: LoopbackOrigin.Request) -> [Step] {
        var steps: [Step] = []
        interrupt(&steps, at: .start)
        if framing == .raw {
            interrupt(&steps, at: .insideHead)
        } else {
            let head = ByteBuffer(string: interimHeads + self.head(answering: request))
            if interruptions.contains(where: { $0.point == .insideHead }) {
                let middle = head.readableBytes / 2
                steps.append(.write(head.piece(at: 0, count: middle), bodyBytes: 0))
                interrupt(&steps, at: .insideHead)
                steps.append(.write(head.piece(at: middle, count: head.readableBytes - middle), bodyBytes: 0))
            } else {
                steps.append(.write(head, bodyBytes: 0))
            }
        }
        if request.method == "HEAD" || hasNoBody {
            interrupt(&steps, at: .body(0))
        } else {
            appendBody(to: &steps)
        }
        steps.append(closesConnection(after: request) ? .close : .end)
        return steps
    }

    private func appendBody(to steps: inout [Step]) {
        let count = content.readableBytes
        let stops = Set(interruptions.compactMap { stop(of: $0.point) }).sorted()
        let piece = min(pace?.chunk ?? Self.largestPiece, Self.largestPiece)
        var offset = 0
        for stop in stops + [count] {
            while offset < stop {
                let length = min(piece, stop - offset)
                if offset > 0, let pace {
                    let nanoseconds = 1_000_000_000.0 * Double(length) / Double(pace.bytesPerSecond)
                    steps.append(.pause(.nanoseconds(Int64(nanoseconds))))
                }
                steps.append(.write(framed(content.piece(at: offset, count: length)), bodyBytes: length))
                offset += length
            }
            interrupt(&steps, at: .body(stop))
        }
        if framing == .chunked {
            steps.append(.write(ByteBuffer(string: "0\r\n\r\n"), bodyBytes: 0))
        }
    }

    private func framed(_ piece: ByteBuffer) -> ByteBuffer {
        guard framing == .chunked else { return piece }
        var chunk = ByteBuffer(string: String(piece.readableBytes, radix: 16) + "\r\n")
        chunk.writeImmutableBuffer(piece)
        chunk.writeString("\r\n")
        return chunk
    }

    /// The interruptions at `point`, each once, in the order in which they were scripted.
    private func interrupt(_ steps: inout [Step], at point: Point) {
        for interruption in interruptions where matches(interruption.point, point) {
            switch interruption.kind {
            case .hold(let gate): steps.append(.hold(gate))
            case .pause(let duration): steps.append(.pause(TimeAmount(duration)))
            case .stall: steps.append(.stall)
            case .cut: steps.append(.close)
            case .reset: steps.append(.reset)
            }
        }
    }

    private func matches(_ scripted: Point, _ point: Point) -> Bool {
        if let stop = stop(of: scripted) { .body(stop) == point } else { scripted == point }
    }

    /// Where in the body `point` is, or nil if it is before the body.
    private func stop(of point: Point) -> Int? {
        guard case .body(let offset) = point else { return nil }
        return min(max(0, offset), content.readableBytes)
    }

    private func head(answering request: LoopbackOrigin.Request) -> String {
        var fields = headerFields
        switch framing {
        case .contentLength where !hasNoBody: fields.append("Content-Length", String(content.readableBytes))
        case .claimedContentLength(let claimed): fields.append("Content-Length", String(claimed))
        case .chunked where !hasNoBody: fields.append("Transfer-Encoding", "chunked")
        default: break
        }
        if closesConnection(after: request), fields["Connection"] == nil { fields.append("Connection", "close") }
        return Self.head(status: status, reason: reason, fields: fields)
    }

    private var interimHeads: String {
        interim.map { Self.head(status: $0.status, reason: nil, fields: $0.headerFields) }.joined()
    }

    private static func head(status: Int, reason: String?, fields: HeaderFields) -> String {
        // NIO has no words for 103.
        let reason = reason ?? (status == 103 ? "Early Hints" : HTTPResponseStatus(statusCode: status).reasonPhrase)
        let lines = fields.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return "HTTP/1.1 \(status) \(reason)\r\n\(lines)\r\n"
    }

    private var hasNoBody: Bool {
        framing != .raw && (status < 200 || status == 204 || status == 304)
    }

    private func closesConnection(after request: LoopbackOrigin.Request) -> Bool {
        switch framing {
        case .untilClose, .raw: true
        case .claimedContentLength(let claimed) where claimed > content.readableBytes && request.method != "HEAD": true
        default: !request.isKeepAlive || headerFields["Connection"]?.lowercased() == "close"
        }
    }
}

extension ByteBuffer {
    fileprivate func piece(at offset: Int, count: Int) -> ByteBuffer {
        getSlice(at: readerIndex + offset, length: count) ?? ByteBuffer()
    }
}
