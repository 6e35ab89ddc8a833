import HTTPTypes

/// Assembles the head of a response from its header lines.
///
/// Interim (1xx) responses and trailers, which follow the body, are skipped but count toward the limits.
struct ResponseHeadParser {
    /// The maximum number of bytes of all header lines of one response, including interim responses, challenges that
    /// libcurl has answered, and trailers.
    ///
    /// Must not exceed libcurl's own limit for a single line.
    static let limit = 100 << 10
    /// The maximum number of those lines.
    ///
    /// libcurl keeps all of them, with about 100 bytes of overhead each.
    static let maximumLines = 2_000

    private var head: RawResponseHead?
    private var byteCount = 0
    private var lineCount = 0
    private var isComplete = false
    /// A Boolean value that indicates whether the status line of the final response, but not the end of its head, has
    /// been parsed.
    private(set) var isInFinalHead = false

    enum Event {
        case needsMore
        case complete(RawResponseHead)
        /// The response is rejected, with a reason and an optional detail.
        case refused(TransportError.Reason, String? = nil)
    }

    /// Appends one line, including its end.
    mutating func append(_ line: Span<UInt8>) -> Event {
        byteCount += line.count
        lineCount += 1
        guard byteCount <= Self.limit else { return .refused(.headerTooLarge(limit: Self.limit)) }
        guard lineCount <= Self.maximumLines else {
            return .refused(.headerTooLarge(limit: Self.limit), "more than \(Self.maximumLines) lines")
        }
        guard !isComplete else { return .needsMore }
        let end = line.lengthWithoutLineEnd
        // To libcurl, every line that begins with a carriage return is the empty one.
        if end == 0 || line[0] == UInt8(ascii: "\r") { return endOfLines() }
        if head == nil { return statusLine(line, end) }
        head?.append(line, end)
        return .needsMore
    }

    /// Prepares for the response to the next request that libcurl makes by itself; the lines so far still count.
    mutating func expectAnotherResponse() {
        head = nil
        isInFinalHead = false
        isComplete = false
    }

    private mutating func endOfLines() -> Event {
        guard let head = head.take() else { return .refused(.invalidResponse) }
        guard isInFinalHead else { return .needsMore }
        isInFinalHead = false
        if let fault = head.framing.fault { return .refused(.invalidResponse, fault) }
        isComplete = true
        return .complete(head)
    }

    /// Parses `HTTP/1.1 200 OK`; libcurl or ``HTTP1ResponseHead`` has checked the format.
    private mutating func statusLine(_ line: Span<UInt8>, _ end: Int) -> Event {
        var index = 0
        while index < end, !line[index].isBlank { index += 1 }
        while index < end, line[index].isBlank { index += 1 }
        var code = 0
        var digits = 0
        while index < end, case let digit = line[index], digit.isASCIIDigit, digits < 4 {
            code = code * 10 + Int(digit - 0x30)
            digits += 1
            index += 1
        }
        guard digits == 3 else { return .refused(.invalidResponse) }
        let status = HTTPResponse.Status(code: code)
        head = RawResponseHead(status: status)
        isInFinalHead = status.kind != .informational
        return .needsMore
    }
}
