/// The SHA-256 hash of a public key, computed from its DER-encoded SubjectPublicKeyInfo (RFC 7469).
///
/// To print it for a certificate: `openssl x509 -pubkey -noout -in cert.pem | openssl pkey -pubin -outform der |
/// openssl dgst -sha256 -binary | base64`.
public struct PublicKeyPin: Sendable, Hashable {
    /// `sha256//` and the digest in base64.
    let text: String

    /// Parses `sha256//` and 44 characters of base64, or the base64 alone; returns `nil` for any other text.
    public init?(_ text: String) {
        let digest = text.hasPrefix("sha256//") ? text.dropFirst(8) : text[...]
        // In base64, 32 bytes end with one padding character and one character with four significant bits.
        guard digest.utf8.count == 44, digest.hasSuffix("="),
            digest.dropLast().allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") })
        else { return nil }
        self.text = "sha256//\(digest)"
    }
}

extension PublicKeyPin: ExpressibleByStringLiteral {
    /// Creates a pin from a literal; traps if the text is not a pin.
    public init(stringLiteral text: String) {
        guard let pin = PublicKeyPin(text) else { preconditionFailure("\(text) is not a public key pin") }
        self = pin
    }
}
