import COpenSSL

/// The hash function SHA-256 (FIPS 180-4) of short texts, for file names that cannot be forged to collide, and for
/// comparing secrets without storing them.
package enum SHA256 {
    /// The algorithm, looked up once, which takes longer than hashing a cache key.
    private static let algorithm = {
        _ = copenssl_initialize()
        return unsafe FetchedAlgorithm(pointer: EVP_MD_fetch(nil, "SHA256", nil))
    }()

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
            let status = unsafe EVP_Digest(
                bytes.baseAddress, bytes.count, hash.baseAddress, nil, algorithm.pointer, nil)
            // Every provider of OpenSSL has it, and TLS does not work without it.
            precondition(status == 1, "the installed OpenSSL does not provide SHA-256")
            count = DigestAlgorithm.sha256.byteCount
        }
    }
}

/// An algorithm of OpenSSL.
///
/// `@unchecked Sendable`: it does not change and is never released.
@safe
private struct FetchedAlgorithm: @unchecked Sendable {
    let pointer: OpaquePointer?
}
