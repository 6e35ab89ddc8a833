import CZlib

/// The CRC-32 of PNG, gzip, and zlib, computed by zlib: detects accidental damage only.
package struct CRC32: Sendable, Equatable {
    /// The checksum of all bytes so far.
    package private(set) var value: UInt32

    /// Creates a checksum of no bytes or, to continue, of bytes whose checksum is `value`.
    package init(_ value: UInt32 = 0) {
        self.value = value
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: Span<UInt8>) {
        // An empty span may have no address, which zlib interprets as a request to start over.
        guard !bytes.isEmpty else { return }
        let start = UInt(value)
        value = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe UInt32(truncatingIfNeeded: crc32_z(start, buffer.baseAddress, buffer.count))
        }
    }
}
