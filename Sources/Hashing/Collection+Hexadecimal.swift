extension Collection<UInt8> {
    /// The bytes as lowercase hexadecimal, two digits each.
    @inlinable  // Specialized for the type of the bytes: every lookup in a cache computes a name.
    package var hexadecimal: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
        return unsafe String(unsafeUninitializedCapacity: 2 * count) { digits in
            var filled = 0
            for byte in self {
                unsafe digits[filled] = digit(byte >> 4)
                unsafe digits[filled + 1] = digit(byte & 15)
                filled += 2
            }
            return filled
        }
    }
}
