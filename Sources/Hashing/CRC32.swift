import CZlib

/// The CRC-32 of PNG, gzip and zlib, computed by zlib: detects damage, not malice.
package struct CRC32: Sendable, Equatable {
    /// The checksum of all bytes so far.
    package private(set) var value: UInt32

    /// A checksum of no bytes, or, to continue, of those whose checksum is `value`.
    package init(_ value: UInt32 = 0) {
        self.value = value
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: Span<UInt8>) {
        // Without bytes there may be no address, which zlib takes for a request to start over.
        guard !bytes.isEmpty else { return }
        let start = UInt(value)
        value = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe UInt32(truncatingIfNeeded: crc32_z(start, buffer.baseAddress, buffer.count))
        }
    }
}
