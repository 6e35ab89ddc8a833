import HTTPTransport
import Hashing
import ResponseCache

/// A URL that contains its image (RFC 2397).
struct DataURL: Sendable {
    /// The maximum length of the part before the comma, in bytes.
    private static let maximumTypeBytes = 200

    /// A text that identifies the URL, and is short: its beginning, and the digest of all of it.
    let identity: String
    private let text: String
    private let maximumBytes: Int

    /// Creates the URL; throws an error if the text is so long that its image cannot be within the limit.
    init(_ text: String, maximumBytes: Int) throws(TransportError) {
        self.text = text
        self.maximumBytes = maximumBytes
        // Every byte can be written as three.
        guard (text.utf8.count - Self.maximumTypeBytes) / 3 <= maximumBytes else {
            throw TransportError(url: "data:…", reason: .bodyTooLarge(limit: maximumBytes))
        }
        let type = text.utf8.prefix(Self.maximumTypeBytes).prefix { $0 != UInt8(ascii: ",") }
        guard !type.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw TransportError(url: "data:…", reason: .invalidURL)
        }
        identity = "\(Substring(type)),sha256-\(SHA256.hash(text).hexadecimal)"
    }

    /// Returns the decoded bytes and their media type; throws an error if the text is not a valid data URL.
    func decoded() throws(TransportError) -> (bytes: [UInt8], mediaType: String?) {
        let content = text.utf8.dropFirst("data:".utf8.count).prefix { $0 != UInt8(ascii: "#") }
        guard let comma = content.prefix(Self.maximumTypeBytes).firstIndex(of: UInt8(ascii: ",")) else {
            throw failure(.sourceFailed, "a data URL has a comma before its data")
        }
        var type = String(content[..<comma]) ?? ""
        let isBase64 = type.lowercased().hasSuffix(";base64")
        if isBase64 { type.removeLast(";base64".count) }
        let data = PercentEncoding.decoded(content[content.index(after: comma)...])
        guard let bytes = isBase64 ? Base64.decoded(data) : data else {
            throw failure(.sourceFailed, "the Base64 data are invalid")
        }
        guard bytes.count <= maximumBytes else { throw failure(.bodyTooLarge(limit: maximumBytes)) }
        return (bytes, type.isEmpty ? nil : type)
    }

    private func failure(_ reason: TransportError.Reason, _ detail: String? = nil) -> TransportError {
        TransportError(url: identity, reason: reason, detail: detail)
    }
}

/// The Base64 encoding (RFC 4648, section 4).
private enum Base64 {
    /// The values of the digits; 64 for ignored bytes, and 255 for invalid ones.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, digit) in digits.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        for blank in " \t\n\r\u{C}".utf8 { values[Int(blank)] = 64 }
        return values
    }()

    /// Returns the decoded bytes; `nil` if the text is invalid.
    ///
    /// As in browsers, blanks are ignored, and padding can be missing.
    static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 3)
        var (bits, bitCount, digitCount, padding) = (UInt32(0), 0, 0, 0)
        for byte in text {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            let value = values[Int(byte)]
            if value == 64 { continue }
            guard value < 64, padding == 0 else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            digitCount += 1
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        // A single digit is no byte; padding fills the last group.
        guard digitCount % 4 != 1, padding == 0 || (digitCount + padding) % 4 == 0 && padding <= 2 else { return nil }
        return bytes
    }
}
