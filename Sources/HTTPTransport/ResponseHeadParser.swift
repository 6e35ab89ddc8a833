import HTTPTypes

/// Collects the header lines libcurl hands over into the head of a response.
///
/// Interim (1xx) responses are passed over; trailers, which come behind the body, are ignored.
struct ResponseHeadParser {
    /// Most bytes of all header lines of one response, the interim ones before it included.
    ///
    /// Not above libcurl's own limit for a single line.
    static let limit = 100 << 10

    private var head: RawResponseHead?
    private var byteCount = 0
    private var isComplete = false

    enum Event {
        case needsMore
        case complete(RawResponseHead)
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
        if head == nil { return statusLine(line, end) }
        head?.append(line, end)
        return .needsMore
    }

    private mutating func endOfLines() -> Event {
        guard let head else { return .malformed }
        self.head = nil
        guard head.status.kind != .informational else { return .needsMore }
        isComplete = true
        return .complete(head)
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
        head = RawResponseHead(status: HTTPResponse.Status(code: code))
        return .needsMore
    }
}
