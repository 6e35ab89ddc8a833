internal import NIOCore
internal import NIOHTTP1

extension LoopbackOrigin.Response {
    /// Returns the steps that send the head.
    func headSteps(answering request: LoopbackOrigin.Request) -> [Step] {
        let head = ByteBuffer(string: head(answering: request))
        let interruptions = interruptions(at: .insideHead)
        guard !interruptions.isEmpty else { return [.write(head, bodyBytes: 0)] }
        let middle = head.readableBytes / 2
        return [.write(head.piece(at: 0, count: middle), bodyBytes: 0)] + interruptions
            + [.write(head.piece(at: middle, count: head.readableBytes - middle), bodyBytes: 0)]
    }

    private func head(answering request: LoopbackOrigin.Request) -> String {
        var fields = headerFields
        switch framing {
        case .contentLength where !hasNoBody:
            if let bodyLength { fields.append("Content-Length", String(bodyLength)) }
        case .claimedContentLength(let claimed): fields.append("Content-Length", String(claimed))
        case .chunked where !hasNoBody: fields.append("Transfer-Encoding", "chunked")
        default: break
        }
        if closesConnection(after: request), fields["Connection"] == nil { fields.append("Connection", "close") }
        return Self.head(status: status, reason: reason, fields: fields)
    }

    var interimHeads: String { interim.map(\.head).joined() }

    fileprivate static func head(status: Int, reason: String?, fields: HeaderFields) -> String {
        // NIO has no reason phrase for 103.
        let reason = reason ?? (status == 103 ? "Early Hints" : HTTPResponseStatus(statusCode: status).reasonPhrase)
        let lines = fields.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return "HTTP/1.1 \(status) \(reason)\r\n\(lines)\r\n"
    }

    /// The parts of the body in order.
    var parts: [RepeatedBytes] { [RepeatedBytes(content)].compactMap { $0 } + continuation }

    /// The length of the body including its continuation; `nil` if endless.
    var bodyLength: Int? {
        var sum = 0
        for part in parts {
            guard let length = part.length else { return nil }
            let (total, isTooLarge) = sum.addingReportingOverflow(length)
            guard !isTooLarge else { return nil }
            sum = total
        }
        return sum
    }

    var hasNoBody: Bool {
        framing != .raw && (status < 200 || status == 204 || status == 304)
    }

    func closesConnection(after request: LoopbackOrigin.Request) -> Bool {
        switch framing {
        case .untilClose, .raw: return true
        case .chunked where !chunkFormat.hasLastChunk && request.method != "HEAD": return true
        case .claimedContentLength(let claimed) where claimed > bodyLength ?? .max && request.method != "HEAD":
            return true
        case .contentLength where bodyLength == nil: return true
        default: return !request.isKeepAlive || headerFields["Connection"]?.lowercased() == "close"
        }
    }
}

extension LoopbackOrigin.Response.Interim {
    /// The text of the head.
    var head: String { LoopbackOrigin.Response.head(status: status, reason: nil, fields: headerFields) }
}
