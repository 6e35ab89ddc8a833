import HTTPTypes

/// Collects the header lines libcurl hands over into the head of a response.
///
/// Interim (1xx) responses are passed over; trailers, which come behind the body, are ignored.
struct ResponseHeadParser {
    /// Most bytes of all header lines of one response, the interim ones before it included.
    ///
    /// Not above libcurl's own limit for a single line.
    static let limit = 100 << 10

    private var status: HTTPResponse.Status?
    private var fields = HTTPFields()
    private var byteCount = 0
    private var isComplete = false

    enum Event {
        case needsMore
        case complete(HTTPResponse)
        case tooLarge
        case malformed
    }

    /// Takes one line, its end included.
    mutating func append(_ line: Span<UInt8>) -> Event {
        guard !isComplete else { return .needsMore }
        byteCount += line.count
        guard byteCount <= Self.limit else { return .tooLarge }
        var end = line.count
        while end > 0, line[end - 1] == 0x0A || line[end - 1] == 0x0D { end -= 1 }
        if end == 0 { return endOfLines() }
        if status == nil { return statusLine(line, end) }
        return field(line, end)
    }

    private mutating func endOfLines() -> Event {
        guard let status else { return .malformed }
        if status.kind == .informational {
            self.status = nil
            fields = HTTPFields()
            return .needsMore
        }
        isComplete = true
        return .complete(HTTPResponse(status: status, headerFields: fields))
    }

    /// `HTTP/1.1 200 OK`; libcurl has checked the shape.
    private mutating func statusLine(_ line: Span<UInt8>, _ end: Int) -> Event {
        var index = 0
        while index < end, line[index] != 0x20 { index += 1 }
        while index < end, line[index] == 0x20 { index += 1 }
        var code = 0
        var digits = 0
        while index < end, case let digit = line[index], (0x30...0x39).contains(digit), digits < 4 {
            code = code * 10 + Int(digit - 0x30)
            digits += 1
            index += 1
        }
        guard digits == 3 else { return .malformed }
        status = HTTPResponse.Status(code: code)
        return .needsMore
    }

    /// `Name: value`; lines that are none are passed over, as browsers do.
    private mutating func field(_ line: Span<UInt8>, _ end: Int) -> Event {
        var colon = 0
        while colon < end, line[colon] != 0x3A { colon += 1 }
        guard colon < end else { return .needsMore }
        var start = colon + 1
        while start < end, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        var last = end
        while last > start, line[last - 1] == 0x20 || line[last - 1] == 0x09 { last -= 1 }
        guard let nameText = try? UTF8Span(validating: line.extracting(0..<colon)),
            let name = HTTPField.Name(String(copying: nameText))
        else { return .needsMore }
        let value = line.extracting(start..<last)
        if let text = try? UTF8Span(validating: value) {
            fields.append(HTTPField(name: name, value: String(copying: text)))
        } else {
            fields.append(HTTPField(name: name, value: value.indices.map { value[$0] }))
        }
        return .needsMore
    }
}
