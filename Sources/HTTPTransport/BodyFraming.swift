/// The length and transfer coding of a body, according to the response's header lines (RFC 9112, section 6).
struct BodyFraming {
    private var declaredLength: Int?
    private var lengthFault: String?
    private var codingFault: String?

    /// The body's length in bytes according to `Content-Length`; `nil` if there is none, and for a body in chunks, which
    /// override it (RFC 9112, section 6.3).
    var contentLength: Int? { isChunked ? nil : declaredLength }

    /// The reason why the header lines are invalid; `nil` if they are valid.
    ///
    /// libcurl reads `12abc` as 12, and decodes transfer codings that were not requested, so that a megabyte received
    /// becomes a gigabyte.
    var fault: String? { codingFault ?? (isChunked ? nil : lengthFault) }

    /// A Boolean value that indicates whether there is a `Content-Length`, valid or not.
    var hasContentLength: Bool { declaredLength != nil || lengthFault != nil }

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
            guard let number = Self.number(element) else { return lengthFault = "invalid Content-Length" }
            if let declaredLength, declaredLength != number { lengthFault = "contradictory Content-Length" }
            declaredLength = number
        }
    }

    private mutating func takeCodings(_ line: Span<UInt8>, _ start: Int, _ end: Int) {
        hasTransferEncoding = true
        line.forEachElement(from: start, to: end) { element in
            if element.equalsIgnoringCase("chunked") {
                if isChunked { codingFault = "chunked more than once" }
                isChunked = true
            } else if !element.equalsIgnoringCase("identity") {
                codingFault = "transfer coding other than chunked"
            } else if isChunked {
                // Such a body ends with the connection (RFC 9112, section 6.3), and others take it for one in chunks.
                codingFault = "chunked is not the last transfer coding"
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
