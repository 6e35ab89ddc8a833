// Texts without user names and passwords, for messages and logs.
extension HTTPURL {
    /// Returns `text`, a URL in its original form, without its user name and password.
    ///
    /// All other parts of an http or https URL are unchanged, unless only its normalized form is unambiguous. If the
    /// text is not such a URL, everything before the last `@` could be a password and is removed, except for a scheme
    /// at the beginning.
    public static func displayText(of text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
        guard let url = try? HTTPURL(text) else { return withoutUserInformation(text) }
        guard url.user != nil || url.password != nil else { return text }
        let shown = withoutUserInformationInAuthority(text)
        // libcurl defines the parts of a URL; if it parses this text differently, its normalized form is shown.
        guard let again = try? HTTPURL(shown), again.user == nil, again.password == nil, again.string == url.string
        else { return url.string }
        return shown
    }

    /// Returns the displayable part of `text`, which is not a URL or contains one: everything up to the last `@`
    /// could be a user name and a password and is removed, except for a scheme at the beginning.
    static func withoutUserInformation(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return text }
        var start = 0
        if let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) {
            start = colon + 3
        }
        guard at >= start else { return text }
        return String(decoding: bytes[..<start] + bytes[(at + 1)...], as: UTF8.self)
    }

    private static func withoutUserInformationInAuthority(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let slash = UInt8(ascii: "/")
        guard let start = bytes[scheme.endIndex...].dropFirst().firstIndex(where: { $0 != slash }) else { return text }
        let authority = bytes[start...].prefix { !"/?#".utf8.contains($0) }
        guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return text }
        return String(decoding: bytes[..<start] + bytes[(at + 1)...], as: UTF8.self)
    }
}
