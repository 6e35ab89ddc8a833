import HTTPTransport
import Hashing

/// The digest of a response body, as published by a site or recorded in a list.
public struct BodyDigest: Sendable, Hashable {
    /// A digest algorithm.
    public enum Algorithm: String, Sendable, Hashable, CaseIterable {
        /// MD5 (RFC 1321), which detects damage, but not forgery.
        case md5
        /// SHA-256 (FIPS 180-4).
        case sha256
        /// SHA-512 (FIPS 180-4).
        case sha512
    }

    /// The algorithm.
    public let algorithm: Algorithm
    /// The bytes of the digest: 16 for MD5, 32 for SHA-256, 64 for SHA-512.
    public let bytes: [UInt8]

    /// Creates a digest from its bytes; `nil` if their number is not that of the algorithm.
    public init?(_ algorithm: Algorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.implementation.byteCount else { return nil }
        (self.algorithm, self.bytes) = (algorithm, bytes)
    }

    /// Creates a digest from hexadecimal digits in upper or lower case; `nil` if the text contains other characters, or
    /// their number is not that of the algorithm.
    public init?(_ algorithm: Algorithm, hexadecimal text: String) {
        var bytes: [UInt8] = []
        var high: UInt8?
        // A longer text is invalid.
        for character in text.utf8.prefix(2 * algorithm.implementation.byteCount + 1) {
            guard let digit = character.hexadecimalValue else { return nil }
            if let first = high { bytes.append(first << 4 | digit) }
            high = high == nil ? digit : nil
        }
        guard high == nil else { return nil }
        self.init(algorithm, bytes: bytes)
    }

    /// The digest in lowercase hexadecimal digits.
    public var hexadecimal: String { bytes.hexadecimal }
}

extension BodyDigest: CustomStringConvertible {
    /// The algorithm and the digest in hexadecimal digits, such as `SHA-256 e3b0c442…`.
    public var description: String { "\(algorithm) \(hexadecimal)" }
}

extension BodyDigest.Algorithm: CustomStringConvertible {
    /// The name of the algorithm, such as `SHA-256`.
    public var description: String {
        switch self {
        case .md5: "MD5"
        case .sha256: "SHA-256"
        case .sha512: "SHA-512"
        }
    }

    /// The algorithm of the module that computes digests.
    var implementation: DigestAlgorithm {
        switch self {
        case .md5: .md5
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}
