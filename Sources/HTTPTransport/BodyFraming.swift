/// The length and transfer coding of a body, according to the response's header lines (RFC 9112, section 6).
struct BodyFraming {
    /// The body's length in bytes according to `Content-Length`; `nil` if there is none.
    private(set) var contentLength: Int?
    /// The reason why the header lines are invalid; `nil` if they are valid.
    ///
    /// libcurl reads `12abc` as 12, and decodes transfer codings that were not requested, so that a megabyte received
    /// becomes a gigabyte.
    private(set) var fault: String?

    /// Parses the first `end` bytes of a field line.
    mutating func take(_ line: Span<UInt8>, _ end: Int) {
        if Self.is(line, end, Self.contentLengthName) {
            takeLength(line, Self.contentLengthName.count + 1, end)
        } else if Self.is(line, end, Self.transferEncodingName) {
            takeCodings(line, Self.transferEncodingName.count + 1, end)
        }
    }

    /// A list is valid if it repeats one number (RFC 9110, section 8.6).
    private mutating func takeLength(_ line: Span<UInt8>, _ start: Int, _ end: Int) {
        Self.forEachElement(line, start, end) { element in
            guard let number = Self.number(element) else { return fault = "invalid Content-Length" }
            if let contentLength, contentLength != number { fault = "contradictory Content-Length" }
            contentLength = number
        }
    }

    private mutating func takeCodings(_ line: Span<UInt8>, _ start: Int, _ end: Int) {
        Self.forEachElement(line, start, end) { element in
            guard Self.equals(element, Self.chunked) || Self.equals(element, Self.identity) else {
                return fault = "transfer coding other than chunked"
            }
        }
    }

    private static let contentLengthName = Array("content-length".utf8)
    private static let transferEncodingName = Array("transfer-encoding".utf8)
    private static let chunked = Array("chunked".utf8)
    private static let identity = Array("identity".utf8)

    /// Returns whether the line is a field with the lowercase name `name`.
    private static func `is`(_ line: Span<UInt8>, _ end: Int, _ name: [UInt8]) -> Bool {
        end > name.count && line[name.count] == 0x3A && equals(line.extracting(0..<name.count), name)
    }

    /// Returns whether `bytes` equal `name`, which is lowercase, ignoring case.
    private static func equals(_ bytes: Span<UInt8>, _ name: [UInt8]) -> Bool {
        // Bit 5 makes letters lowercase and leaves the hyphen unchanged.
        bytes.count == name.count && name.indices.allSatisfy { bytes[$0] | 0x20 == name[$0] }
    }

    /// Calls the closure with each element between commas, without surrounding whitespace.
    private static func forEachElement(
        _ line: Span<UInt8>, _ start: Int, _ end: Int, _ body: (Span<UInt8>) -> Void
    ) {
        var first = start
        while first <= end {
            var comma = first
            while comma < end, line[comma] != 0x2C { comma += 1 }
            var last = comma
            while first < last, isBlank(line[first]) { first += 1 }
            while last > first, isBlank(line[last - 1]) { last -= 1 }
            body(line.extracting(first..<last))
            first = comma + 1
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

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
