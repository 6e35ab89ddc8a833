package import HTTPTypes

// Field values as bytes: a string would change those that are not UTF-8, such as Latin-1 (RFC 9110, section 5.5).
extension HTTPField {
    /// The bytes of the value.
    package var bytes: [UInt8] { unsafe withUnsafeBytesOfValue { unsafe Array($0) } }
}

extension HTTPFields {
    /// Returns the bytes of the value of a field, of several lines joined by commas; `nil` if there is none.
    package func bytes(of name: HTTPField.Name) -> [UInt8]? {
        let lines = self[fields: name]
        return lines.isEmpty ? nil : Array(lines.map(\.bytes).joined(separator: [0x2C, 0x20]))
    }

    /// Replaces the lines of a field by one with these bytes.
    package mutating func set(_ name: HTTPField.Name, _ bytes: [UInt8]) {
        self[fields: name] = [HTTPField(name: name, value: bytes)]
    }
}
