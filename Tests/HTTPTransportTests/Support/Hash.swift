import Hashing
import TestSupport

/// The hash algorithms of Digest authentication, with their names in HTTP.
enum Hash: String, CaseIterable {
    case md5 = "MD5"
    case sha256 = "SHA-256"

    /// The hash of `text` in hexadecimal.
    func callAsFunction(_ text: String) -> String {
        switch self {
        case .md5: MD5.hexadecimal(Array(text.utf8))
        case .sha256: SHA256.hash(text).hexadecimal
        }
    }
}
