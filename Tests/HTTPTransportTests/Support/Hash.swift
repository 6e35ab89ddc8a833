import Hashing

/// The hash algorithms of Digest authentication, with their names in HTTP.
enum Hash: String, CaseIterable {
    case md5 = "MD5"
    case sha256 = "SHA-256"

    /// The hash of `text` in hexadecimal.
    func callAsFunction(_ text: String) -> String {
        do {
            var digest = try MessageDigest(self == .md5 ? .md5 : .sha256)
            digest.update(Array(text.utf8))
            return try digest.finish().hexadecimal
        } catch {
            fatalError("\(error)")
        }
    }
}
