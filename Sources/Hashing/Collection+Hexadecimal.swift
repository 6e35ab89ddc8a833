extension Collection<UInt8> {
    /// The bytes as lowercase hexadecimal, two digits each.
    package var hexadecimal: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * count)
        for byte in self {
            digits.append(Self.digit(byte >> 4))
            digits.append(Self.digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}
