/// The checksum of a PNG chunk's name and data (PNG, annex D).
struct CRC32 {
    private var state = UInt32.max

    /// The checksum of what has come so far.
    var value: UInt32 { ~state }

    mutating func update(_ bytes: Span<UInt8>) {
        for index in bytes.indices {
            state = Self.table[Int(UInt8(truncatingIfNeeded: state) ^ bytes[index])] ^ state >> 8
        }
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
}
