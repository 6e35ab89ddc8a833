extension Collection<UInt8> {
    /// The bytes as lowercase hexadecimal, two digits each.
    package var hexadecimal: String {
        unsafe String(unsafeUninitializedCapacity: 2 * count) { digits in
            var filled = 0
            for byte in self {
                unsafe digits[filled] = Self.digit(byte >> 4)
                unsafe digits[filled + 1] = Self.digit(byte & 15)
                filled += 2
            }
            return filled
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}
