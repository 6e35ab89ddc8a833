import HTTPTypes

/// A response's head as received: status and length are parsed, the fields only on demand.
///
/// Most callers never read the fields, and creating a dozen strings costs more than the remainder of a small
/// transfer.
struct RawResponseHead: Sendable {
    let status: HTTPResponse.Status
    /// The length and encoding of the body.
    private(set) var framing = BodyFraming()
    /// A Boolean value that indicates whether there is a `Content-Encoding`.
    private(set) var hasContentEncoding = false
    /// The bytes of the field lines, separated by their ends.
    private var lines: [UInt8] = []

    init(status: HTTPResponse.Status) {
        self.status = status
    }

    /// Appends the first `end` bytes of a field line.
    mutating func append(_ line: Span<UInt8>, _ end: Int) {
        if lines.isEmpty { lines.reserveCapacity(512) }
        lines.append(copying: line.extracting(0..<end))
        lines.append(0x0A)
        framing.take(line, end)
        if line.startOfValue(ofField: "content-encoding", upTo: end) != nil { hasContentEncoding = true }
    }

    /// The size of the field lines in bytes.
    var fieldByteCount: Int { lines.count }

    /// The value of `Content-Length`; `nil` if there is none that counts.
    var contentLength: Int? { framing.contentLength }

    /// The status and header fields.
    ///
    /// Lines that are not fields are ignored, as in browsers; so is a length that chunks override.
    var response: HTTPResponse {
        var fields = HTTPFields()
        forEachLine { line in
            if let field = Self.field(line) { fields.append(field) }
        }
        if framing.isChunked { fields[.contentLength] = nil }
        return HTTPResponse(status: status, headerFields: fields)
    }

    /// Returns whether a field with this lowercase name contains a control character other than a tab.
    func hasControlCharacter(inFieldsNamed name: String) -> Bool {
        var isFound = false
        forEachLine { line in
            guard let colon = Self.colon(of: line), colon == name.utf8.count,
                zip(0..<colon, name.utf8).allSatisfy({ line[$0] | 0x20 == $1 })
            else { return }
            isFound = isFound || line.indices.contains { line[$0] < 0x20 && line[$0] != 0x09 || line[$0] == 0x7F }
        }
        return isFound
    }

    private func forEachLine(_ body: (Span<UInt8>) -> Void) {
        let bytes = lines.span
        var start = 0
        for index in bytes.indices where bytes[index] == 0x0A {
            body(bytes.extracting(start..<index))
            start = index + 1
        }
    }

    private static func field(_ line: Span<UInt8>) -> HTTPField? {
        guard let colon = colon(of: line),
            let nameText = try? UTF8Span(validating: line.extracting(0..<colon)),
            let name = HTTPField.Name(String(copying: nameText))
        else { return nil }
        var start = colon + 1
        while start < line.count, isBlank(line[start]) { start += 1 }
        var end = line.count
        while end > start, isBlank(line[end - 1]) { end -= 1 }
        let value = line.extracting(start..<end)
        guard let text = try? UTF8Span(validating: value) else {
            return HTTPField(name: name, value: value.indices.map { value[$0] })
        }
        return HTTPField(name: name, value: String(copying: text))
    }

    private static func colon(of line: Span<UInt8>) -> Int? {
        line.firstIndex(of: UInt8(ascii: ":"), in: 0..<line.count)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
