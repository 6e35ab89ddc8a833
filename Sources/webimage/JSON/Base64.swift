/// Base64 (RFC 4648) with padding.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Returns `bytes` as a JSON string.
    static func text(of bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = [UInt8(ascii: "\"")]
        text.reserveCapacity(bytes.count / 3 * 4 + 6)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let left = min(3, bytes.count - start)
            var group = Int(bytes[start]) << 16
            if left > 1 { group |= Int(bytes[start + 1]) << 8 }
            if left > 2 { group |= Int(bytes[start + 2]) }
            text.append(alphabet[group >> 18])
            text.append(alphabet[group >> 12 & 63])
            text.append(left > 1 ? alphabet[group >> 6 & 63] : UInt8(ascii: "="))
            text.append(left > 2 ? alphabet[group & 63] : UInt8(ascii: "="))
        }
        text.append(UInt8(ascii: "\""))
        return text
    }
}
