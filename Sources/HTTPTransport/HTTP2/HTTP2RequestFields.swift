import HTTPSemantics
import HTTPTypes

/// The fields of a request without a body in HTTP/2 (RFC 9113, section 8.3.1).
///
/// Confined to one thread.
struct HTTP2RequestFields {
    /// A field, by the positions of its name and value in ``bytes``.
    struct Field {
        var name: Range<Int>
        var value: Range<Int>
        /// A Boolean value that indicates whether the value must not enter compression tables (RFC 7541, section 7.1.3).
        var isSecret = false
    }

    /// The names and values, of which those that differ in each request are the last.
    private(set) var bytes: [UInt8]
    /// The fields of the latest request: the method, the scheme, the authority, the path, and the header fields.
    private(set) var list: [Field] = []
    /// The latest request's header fields, because the next request rarely has different ones.
    private var latest: HTTPFields?
    private var endOfHeaderFields = 0

    private static let pseudoNames = [":method", ":scheme", ":authority", ":path"]

    init() {
        bytes = []
        for name in Self.pseudoNames {
            list.append(Field(name: bytes.count..<bytes.count + name.utf8.count, value: 0..<0))
            bytes += name.utf8
        }
        endOfHeaderFields = bytes.count
    }

    /// The size of the latest request (RFC 9113, section 6.5.2).
    var size: Int { bytes.count + 32 * list.count }

    /// Replaces the fields by those of `request`.
    mutating func set(_ request: TransportRequest) {
        if latest != request.headerFields { setHeaderFields(request.headerFields) }
        bytes.removeSubrange(endOfHeaderFields...)
        let url = request.url
        setPseudo(0) { $0.append(copying: request.method.rawValue.utf8Span.span) }
        setPseudo(1) { $0.append(copying: url.scheme.utf8Span.span) }
        setPseudo(2) { bytes in
            bytes.append(copying: url.host.utf8Span.span)
            guard url.port != (url.isSecure ? 443 : 80) else { return }
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: String(url.port).utf8)
        }
        setPseudo(3) { url.appendTarget(to: &$0) }
    }

    private mutating func setPseudo(_ index: Int, _ append: (inout [UInt8]) -> Void) {
        let start = bytes.count
        append(&bytes)
        list[index].value = start..<bytes.count
    }

    private mutating func setHeaderFields(_ fields: HTTPFields) {
        list.removeSubrange(Self.pseudoNames.count...)
        bytes.removeSubrange(list[list.count - 1].name.upperBound...)
        if fields[.accept] == nil { append("accept", Array("*/*".utf8)) }
        for field in fields where !Self.isOfConnection(field) { append(field.name.canonicalName, field.bytes) }
        endOfHeaderFields = bytes.count
        latest = fields
    }

    private mutating func append(_ name: String, _ value: [UInt8]) {
        let start = bytes.count
        bytes += name.utf8
        let end = bytes.count
        bytes += value
        list.append(
            Field(name: start..<end, value: end..<bytes.count, isSecret: Self.secretNames.contains(name)))
    }

    private static let secretNames: Set = ["authorization", "cookie", "proxy-authorization"]

    /// Returns whether a field frames a message or belongs to a connection of HTTP/1.1, where HTTP/2 has its own means
    /// (RFC 9113, section 8.2.2).
    private static func isOfConnection(_ field: HTTPField) -> Bool {
        switch field.name.canonicalName {
        case "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "upgrade",
            "http2-settings":
            true
        case "te": field.value.lowercased() != "trailers"
        default: false
        }
    }
}
