import CChecksum

/// The CRC-32C (Castagnoli), for which processors have an instruction: detects accidental damage only.
package struct CRC32C: Sendable, Equatable {
    /// The checksum of all bytes so far.
    package private(set) var value: UInt32

    /// Creates a checksum of no bytes or, to continue, of bytes whose checksum is `value`.
    package init(_ value: UInt32 = 0) {
        self.value = value
    }

    /// Creates the checksum of `bytes`.
    package init(of bytes: Span<UInt8>) {
        self.init()
        update(bytes)
    }

    /// Adds the next bytes.
    package mutating func update(_ bytes: Span<UInt8>) {
        let start = value
        value = unsafe bytes.withUnsafeBufferPointer { buffer in
            guard let first = buffer.baseAddress else { return start }
            return unsafe cchecksum_crc32c(start, first, buffer.count)
        }
    }
}
