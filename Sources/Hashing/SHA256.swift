import COpenSSL

/// The hash function SHA-256 (FIPS 180-4) of short texts, for file names that cannot be forged to collide, and for
/// comparing secrets without storing them.
package enum SHA256 {
    /// Returns the 32-byte hash of the UTF-8 bytes of a text.
    package static func hash(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { unsafe hash($0) }
    }

    /// Returns the 32-byte hash.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        unsafe bytes.withUnsafeBufferPointer { unsafe hash($0) }
    }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: DigestAlgorithm.sha256.byteCount) { hash, count in
            unsafe copenssl_sha256(bytes.baseAddress, bytes.count, hash.baseAddress)
            count = DigestAlgorithm.sha256.byteCount
        }
    }
}
