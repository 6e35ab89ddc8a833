/// The SHA-256 of a public key, as RFC 7469 has it: of its SubjectPublicKeyInfo in DER.
///
/// `openssl x509 -pubkey -noout -in cert.pem | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64`
/// prints it for a certificate.
public struct PublicKeyPin: Sendable, Hashable {
    /// `sha256//` and the digest in base64.
    let text: String

    /// Reads `sha256//` and 44 characters of base64, or these alone; nil if the text is anything else.
    public init?(_ text: String) {
        let digest = text.hasPrefix("sha256//") ? text.dropFirst(8) : text[...]
        // 32 bytes end in one character that stands for nothing, and one that stands for four bits.
        guard digest.utf8.count == 44, digest.hasSuffix("="),
            digest.dropLast().allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") })
        else { return nil }
        self.text = "sha256//\(digest)"
    }
}

extension PublicKeyPin: ExpressibleByStringLiteral {
    /// A pin written in the program; a text that is none ends it.
    public init(stringLiteral text: String) {
        guard let pin = PublicKeyPin(text) else { preconditionFailure("\(text) is no SHA-256 of a public key") }
        self = pin
    }
}
