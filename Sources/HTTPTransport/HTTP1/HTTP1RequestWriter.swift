import HTTPTypes

/// Formats requests without a body in HTTP/1.1 (RFC 9112, section 3).
///
/// Confined to the worker's thread.
struct HTTP1RequestWriter {
    /// The lines of the latest request's header fields, because the next request rarely has different ones.
    private var latest: (fields: HTTPFields, lines: [UInt8])?

    /// Appends `request`, for the server that its URL names, to `bytes`.
    mutating func write(_ request: TransportRequest, to bytes: inout [UInt8]) {
        let url = request.url
        bytes.append(copying: request.method.rawValue.utf8Span.span)
        bytes.append(UInt8(ascii: " "))
        url.appendTarget(to: &bytes)
        bytes.append(copying: " HTTP/1.1\r\nHost: ".utf8Span.span)
        bytes.append(copying: url.host.utf8Span.span)
        if url.port != (url.isSecure ? 443 : 80) {
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: String(url.port).utf8)
        }
        bytes.append(copying: "\r\n".utf8Span.span)
        bytes.append(contentsOf: lines(of: request.headerFields))
        bytes.append(copying: "\r\n".utf8Span.span)
    }

    private mutating func lines(of fields: HTTPFields) -> [UInt8] {
        if let latest, latest.fields == fields { return latest.lines }
        var lines = fields[.accept] == nil ? Array("Accept: */*\r\n".utf8) : []
        for line in fields.requestLines({ ": ".utf8 + $0 + "\r\n".utf8 }) { lines += line }
        latest = (fields, lines)
        return lines
    }
}

extension HTTPURL {
    /// Appends the path and the query.
    func appendTarget(to bytes: inout [UInt8]) {
        let text = string.utf8Span.span
        var start = scheme.utf8.count + 3
        while start < text.count, text[start] != UInt8(ascii: "/"), text[start] != UInt8(ascii: "?") { start += 1 }
        if start == text.count || text[start] == UInt8(ascii: "?") { bytes.append(UInt8(ascii: "/")) }
        bytes.append(copying: text.extracting(start...))
    }

    /// A Boolean value that indicates whether the URL consists of printable ASCII, as every parsed URL should.
    var isPrintable: Bool {
        let text = string.utf8Span.span
        for index in text.indices where text[index] <= 0x20 || text[index] >= 0x7F { return false }
        return true
    }
}
