/// The parts of a simple URL that can be parsed unambiguously without libcurl.
///
/// Most URLs are simple: `http` or `https`, a host of lowercase letters, digits, hyphens, and dots, optionally a
/// port, and a path of printable ASCII without percent signs, fragments, or segments that begin with a dot. Parsing
/// them this way takes a tenth of the time. All other URLs are parsed by libcurl.
struct PlainURL {
    let scheme: String
    let host: String
    let port: Int

    /// Parses `text`; returns `nil` unless it is simple and already normalized.
    init?(_ text: String) {
        let bytes = text.utf8Span.span
        let isSecure = bytes.begins(with: "https://")
        guard isSecure || bytes.begins(with: "http://"), bytes.count <= 2_048 else { return nil }
        let hostStart = isSecure ? 8 : 7
        var index = hostStart
        while index < bytes.count, bytes[index] != UInt8(ascii: ":"), bytes[index] != UInt8(ascii: "/") { index += 1 }
        let hostEnd = index
        guard Self.isPlainHost(bytes.extracting(hostStart..<hostEnd)) else { return nil }

        let implied = isSecure ? 443 : 80
        var port = implied
        if index < bytes.count, bytes[index] == UInt8(ascii: ":") {
            guard let given = Self.port(bytes, &index), given != implied else { return nil }
            port = given
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "/"), Self.isPlainPath(bytes.extracting(index...))
        else {
            return nil
        }
        scheme = isSecure ? "https" : "http"
        self.port = port
        host = String(text.utf8.dropFirst(hostStart).prefix(hostEnd - hostStart)) ?? ""
    }

    /// Returns whether the host is a name whose last label begins with a letter, or a normalized dotted IPv4 address;
    /// other digits can be another notation of an address.
    static func isPlainHost(_ host: Span<UInt8>) -> Bool {
        guard (1...253).contains(host.count) else { return false }
        let dot = UInt8(ascii: ".")
        var labelStart = 0
        var labels = 0
        var numbers = 0
        for index in 0...host.count where index == host.count || host[index] == dot {
            let label = host.extracting(labelStart..<index)
            guard (1...63).contains(label.count), label[0] != UInt8(ascii: "-") else { return false }
            for index in label.indices where !isLabelByte(label[index]) { return false }
            labels += 1
            if isOctet(label) { numbers += 1 }
            if index == host.count, isLetter(label[0]) { return true }
            labelStart = index + 1
        }
        return labels == 4 && numbers == 4
    }

    private static func isLabelByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || byte.isASCIIDigit || byte == UInt8(ascii: "-")
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    /// Returns whether the label is a number from 0 to 255 without leading zeros.
    private static func isOctet(_ label: Span<UInt8>) -> Bool {
        guard label.count <= 3, label[0] != UInt8(ascii: "0") || label.count == 1 else { return false }
        var value = 0
        for index in label.indices {
            guard label[index].isASCIIDigit else { return false }
            value = value * 10 + Int(label[index] - UInt8(ascii: "0"))
        }
        return value <= 255
    }

    /// Parses `:` and a number without leading zeros, and advances `index` past it.
    private static func port(_ bytes: Span<UInt8>, _ index: inout Int) -> Int? {
        index += 1
        let start = index
        var value = 0
        while index < bytes.count, bytes[index].isASCIIDigit, index - start < 5 {
            value = value * 10 + Int(bytes[index] - UInt8(ascii: "0"))
            index += 1
        }
        guard index > start, bytes[start] != UInt8(ascii: "0"), (1...65_535).contains(value) else { return nil }
        return value
    }

    /// Returns whether path and query need no encoding; a segment must not begin with a dot, and the query must not
    /// be empty, because libcurl removes it.
    private static func isPlainPath(_ path: Span<UInt8>) -> Bool {
        guard path.isEmpty || path[path.count - 1] != UInt8(ascii: "?") else { return false }
        var before: UInt8 = 0
        for index in path.indices {
            let byte = path[index]
            guard isPathByte(byte), byte != UInt8(ascii: ".") || before != UInt8(ascii: "/") else { return false }
            before = byte
        }
        return true
    }

    private static func isPathByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        case UInt8(ascii: "?"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: "+"), UInt8(ascii: ","): true
        case UInt8(ascii: ":"), UInt8(ascii: ";"), UInt8(ascii: "!"), UInt8(ascii: "*"): true
        default: false
        }
    }
}
