/// The properties of a response's head that determine where the response ends, and whether its connection can be used
/// for another request (RFC 9112, sections 6.3 and 9.3).
struct HTTP1ResponseHead {
    let statusCode: Int
    /// A Boolean value that indicates whether the version is HTTP/1.1, not an older one.
    let isVersion11: Bool
    private(set) var framing = BodyFraming()
    private var closes = false
    private var keepsAlive = false
    /// A Boolean value that indicates whether the line before determines the framing.
    private var followsFraming = false
    private var isEmpty = true

    /// Parses the first `end` bytes of a status line, such as `HTTP/1.1 200 OK`; returns `nil` if it is not one.
    ///
    /// Lines with a lowercase name, several spaces, or none after the status are accepted, as in libcurl, because they
    /// do not change where the response ends; so is the version HTTP/2, which some servers state.
    init?(statusLine line: Span<UInt8>, _ end: Int) {
        guard Self.mayBegin(line), line.firstIndex(of: 0, in: 0..<end) == nil,
            let blank = (0..<end).first(where: { line[$0].isBlank })
        else { return nil }
        let nameLength = Self.name.utf8CodeUnitCount
        let version = line.extracting(nameLength..<max(blank, nameLength))
        guard Self.isSupported(version) else { return nil }
        isVersion11 = version.count == 3 && version[2] == UInt8(ascii: "1")
        var index = blank
        while index < end, line[index].isBlank { index += 1 }
        let first = index
        var code = 0
        while index < end, line[index].isASCIIDigit, index - first <= 3 {
            code = code * 10 + Int(line[index] - UInt8(ascii: "0"))
            index += 1
        }
        guard index - first == 3, code >= 100 else { return nil }
        statusCode = code
        // Others could take it for the end of the line.
        closes = line.firstIndex(of: UInt8(ascii: "\r"), in: 0..<end) != nil
    }

    /// Returns whether `version` is 1.0, 1.1, or 2.
    private static func isSupported(_ version: Span<UInt8>) -> Bool {
        guard version.count == 3 else { return version.count == 1 && version[0] == UInt8(ascii: "2") }
        return version[0] == UInt8(ascii: "1") && version[1] == UInt8(ascii: ".")
            && (version[2] == UInt8(ascii: "0") || version[2] == UInt8(ascii: "1"))
    }

    /// Returns whether a response can begin with `bytes`, which may be incomplete.
    static func mayBegin(_ bytes: Span<UInt8>) -> Bool {
        bytes.extracting(0..<min(bytes.count, name.utf8CodeUnitCount)).isPrefixIgnoringCase(of: name)
    }

    /// Takes the first `end` bytes of a field line; returns the reason why it is invalid, if it is.
    mutating func take(fieldLine line: Span<UInt8>, _ end: Int) -> String? {
        // Obsolete line folding (RFC 9112, section 5.2).
        if line[0].isBlank {
            let isFault = isEmpty || followsFraming || line.firstIndex(of: 0, in: 0..<end) != nil
            return isFault ? Self.malformedLine : nil
        }
        if let fault = Self.fault(ofFieldLine: line, end) { return fault }
        isEmpty = false
        let (name, isToken) = Self.name(of: line, end)
        followsFraming = BodyFraming.isDetermined(byFieldNamed: line.extracting(name))
        // Others could recognize a field whose name has further bytes, or one after a carriage return, and disagree about
        // the end of the response (RFC 9112, sections 5.1 and 2.2).
        if !isToken || line.firstIndex(of: UInt8(ascii: "\r"), in: 0..<end) != nil { closes = true }
        framing.take(line, end)
        if let start = line.startOfValue(ofField: "connection", upTo: end) {
            line.forEachElement(from: start, to: end) { element in
                if element.equalsIgnoringCase("close") { closes = true }
                if element.equalsIgnoringCase("keep-alive") { keepsAlive = true }
            }
        }
        return nil
    }

    /// Returns the reason why the first `end` bytes are no field line, if they are not.
    static func fault(ofFieldLine line: Span<UInt8>, _ end: Int) -> String? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":"), in: 0..<end) else { return "Header without colon" }
        let isMalformed =
            colon == 0 || line[0] == UInt8(ascii: "\r") || line.firstIndex(of: 0, in: 0..<end) != nil
        return isMalformed ? malformedLine : nil
    }

    /// Returns the name in a valid field line, without the bytes around it that no name has, and whether there are none
    /// of these before the colon.
    private static func name(of line: Span<UInt8>, _ lineEnd: Int) -> (Range<Int>, isToken: Bool) {
        let colon = line.firstIndex(of: UInt8(ascii: ":"), in: 0..<lineEnd) ?? lineEnd
        var start = 0
        while start < colon, !line[start].isTokenByte { start += 1 }
        var end = colon
        while end > start, !line[end - 1].isTokenByte { end -= 1 }
        let isToken = start == 0 && end == colon && (0..<colon).allSatisfy { line[$0].isTokenByte }
        return (start..<end, isToken)
    }

    /// A Boolean value that indicates whether the response is followed by another one to the same request.
    var isInterim: Bool { statusCode < 200 && statusCode != 101 }

    /// A Boolean value that indicates whether the head rules out a body.
    var hasNoBody: Bool { statusCode == 204 || statusCode == 304 }

    /// A Boolean value that indicates whether the connection can be used again after the response.
    ///
    /// Not if it has a length and a transfer coding, or a coding of HTTP/1.0, which servers can interpret differently.
    var allowsReuse: Bool {
        guard !closes, framing.fault == nil else { return false }
        if framing.hasTransferEncoding { return isVersion11 && !framing.hasContentLength }
        return isVersion11 || keepsAlive
    }

    static let malformedLine = "malformed header line"
    private static let name: StaticString = "http/"
}
