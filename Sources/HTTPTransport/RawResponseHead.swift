import HTTPTypes

/// A response's head as it came over the wire: status and length are known, the fields are read when somebody asks.
///
/// Most callers never look at the fields, and making a dozen strings costs more than the rest of a small transfer.
struct RawResponseHead: Sendable {
    let status: HTTPResponse.Status
    /// What `Content-Length` claims; nil without a valid one.
    private(set) var contentLength: Int?
    /// The field lines, each behind its end.
    private var lines: [UInt8] = []

    init(status: HTTPResponse.Status) {
        self.status = status
    }

    /// Takes the first `end` bytes of a field line.
    mutating func append(_ line: Span<UInt8>, _ end: Int) {
        if lines.isEmpty { lines.reserveCapacity(512) }
        lines.append(copying: line.extracting(0..<end))
        lines.append(0x0A)
        if contentLength == nil, let colon = Self.colon(of: line, end), Self.isContentLength(line, colon) {
            contentLength = Self.number(line, colon + 1, end)
        }
    }

    /// Status and fields.
    ///
    /// Lines that are no fields are passed over, as browsers do.
    var response: HTTPResponse {
        var fields = HTTPFields()
        let bytes = lines.span
        var start = 0
        for index in bytes.indices where bytes[index] == 0x0A {
            if let field = Self.field(bytes.extracting(start..<index)) { fields.append(field) }
            start = index + 1
        }
        return HTTPResponse(status: status, headerFields: fields)
    }

    private static func field(_ line: Span<UInt8>) -> HTTPField? {
        guard let colon = colon(of: line, line.count),
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

    private static func colon(of line: Span<UInt8>, _ end: Int) -> Int? {
        (0..<end).first { line[$0] == 0x3A }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static let contentLengthName = Array("content-length".utf8)

    private static func isContentLength(_ line: Span<UInt8>, _ colon: Int) -> Bool {
        // Bit 5 makes letters lower case and leaves the hyphen alone.
        colon == contentLengthName.count && (0..<colon).allSatisfy { line[$0] | 0x20 == contentLengthName[$0] }
    }

    /// Digits with blanks around them; nil if there is anything else, or too many.
    private static func number(_ line: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
        var number: Int?
        var isOver = false
        for index in start..<end {
            let byte = line[index]
            if isBlank(byte) {
                isOver = number != nil
                continue
            }
            guard !isOver, (0x30...0x39).contains(byte), (number ?? 0) < Int.max / 100 else { return nil }
            number = (number ?? 0) * 10 + Int(byte - 0x30)
        }
        return number
    }
}
