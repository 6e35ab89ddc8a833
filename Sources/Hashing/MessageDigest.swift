import COpenSSL

/// The digest of bytes that arrive in pieces.
@safe
package struct MessageDigest: ~Copyable {
    private let context: OpaquePointer
    private let algorithm: DigestAlgorithm

    /// Creates a digest of no bytes.
    ///
    /// Throws an error if the installed OpenSSL does not allow the algorithm.
    package init(_ algorithm: DigestAlgorithm) throws(UnavailableDigest) {
        unsafe context = try Self.makeContext(algorithm)
        self.algorithm = algorithm
    }

    private static func makeContext(_ algorithm: DigestAlgorithm) throws(UnavailableDigest) -> OpaquePointer {
        _ = copenssl_initialize()
        guard let context = unsafe EVP_MD_CTX_new() else { throw UnavailableDigest(algorithm: algorithm) }
        do throws(UnavailableDigest) {
            try unsafe begin(context, algorithm)
            return unsafe context
        } catch {
            unsafe EVP_MD_CTX_free(context)
            throw error
        }
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Adds bytes.
    package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

    /// Adds bytes.
    package mutating func update(_ bytes: Span<UInt8>) {
        _ = unsafe bytes.withUnsafeBufferPointer { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    }

    /// Returns the digest of all added bytes, and starts over.
    package mutating func finish() throws(UnavailableDigest) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: algorithm.byteCount)
        let status = unsafe digest.withUnsafeMutableBytes { bytes in
            unsafe EVP_DigestFinal_ex(context, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, nil)
        }
        guard status == 1 else { throw UnavailableDigest(algorithm: algorithm) }
        try reset()
        return digest
    }

    /// Starts over.
    package mutating func reset() throws(UnavailableDigest) { try unsafe Self.begin(context, algorithm) }

    private static func begin(_ context: OpaquePointer, _ algorithm: DigestAlgorithm) throws(UnavailableDigest) {
        let type =
            switch algorithm {
            case .md5: unsafe EVP_md5()
            case .sha256: unsafe EVP_sha256()
            case .sha512: unsafe EVP_sha512()
            }
        guard unsafe EVP_DigestInit_ex(context, type, nil) == 1 else { throw UnavailableDigest(algorithm: algorithm) }
    }
}

/// The error when the installed OpenSSL does not allow an algorithm, for example MD5 in FIPS mode.
package struct UnavailableDigest: Error, Hashable, CustomStringConvertible {
    package let algorithm: DigestAlgorithm

    package var description: String { "the installed OpenSSL does not provide \(algorithm.rawValue)" }
}
