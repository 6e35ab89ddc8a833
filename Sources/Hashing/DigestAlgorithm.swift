/// The digest algorithms of ``MessageDigest``.
package enum DigestAlgorithm: String, Sendable, Hashable, CaseIterable {
    case md5
    case sha256
    case sha512

    /// The number of bytes of a digest.
    package var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha256: 32
        case .sha512: 64
        }
    }
}
