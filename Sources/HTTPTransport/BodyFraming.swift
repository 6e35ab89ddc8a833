/// The length and transfer coding of a body, according to the response's header lines (RFC 9112, section 6).
struct BodyFraming {
    /// The body's length in bytes according to `Content-Length`; `nil` if there is none.
    private(set) var contentLength: Int?
    /// The reason why the header lines are invalid; `nil` if they are valid.
    ///
    /// libcurl reads `12abc` as 12, and decodes transfer codings that were not requested, so that a megabyte received
    /// becomes a gigabyte.
    private(set) var fault: String?

    /// A Boolean value that indicates whether the body is sent in chunks.
    private(set) var isChunked = false
    /// A Boolean value that indicates whether there is a `Transfer-Encoding`.
    private(set) var hasTransferEncoding = false

    /// Parses the first `end` bytes of a field line.
    mutating func take(_ line: Span<UInt8>, _ end: Int) {
        if let start = line.startOfValue(ofField: Self.contentLengthName, upTo: end) {
            takeLength(line, start, end)
        } else if let start = line.startOfValue(ofField: Self.transferEncodingName, upTo: end) {
            takeCodings(line, start, end)
        }
    }

    /// Returns whether fields with this name determine the framing.
    static func isDetermined(byFieldNamed name: Span<UInt8>) -> Bool {
        name.equalsIgnoringCase(contentLengthName) || name.equalsIgnoringCase(transferEncodingName)
    }

    /// A list is valid if it repeats one number (RFC 9110, section 8.6).
    private mutating func takeLength(_ line: Span<UInt8>, _ start: Int, _ end: Int) {
        line.forEachElement(from: start, to: end) { element in
            guard let number = Self.number(element) else { return fault = "invalid Content-Length" }
            if let contentLength, contentLength != number { fault = "contradictory Content-Length" }
            contentLength = number
        }
    }

    private mutating func takeCodings(_ line: Span<UInt8>, _ start: Int, _ end: Int) {
        hasTransferEncoding = true
        line.forEachElement(from: start, to: end) { element in
            if element.equalsIgnoringCase("chunked") {
                if isChunked { fault = "chunked more than once" }
                isChunked = true
            } else if !element.equalsIgnoringCase("identity") {
                fault = "transfer coding other than chunked"
            }
        }
    }

    private static let contentLengthName: StaticString = "content-length"
    private static let transferEncodingName: StaticString = "transfer-encoding"

    /// Parses digits; returns `nil` if there are other characters, none, or too many.
    private static func number(_ digits: Span<UInt8>) -> Int? {
        var number = 0
        for index in digits.indices {
            guard digits[index].isASCIIDigit, number < Int.max / 100 else { return nil }
            number = number * 10 + Int(digits[index] - 0x30)
        }
        return digits.isEmpty ? nil : number
    }
}
