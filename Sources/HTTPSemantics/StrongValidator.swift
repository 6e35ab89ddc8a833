package import HTTPTypes

/// Validators that guarantee byte-for-byte identity (RFC 9110, section 8.8.1), so that a download can be resumed.
package enum StrongValidator {
    /// Returns the value of `If-Range` to resume a response with these fields; `nil` if it cannot be resumed.
    package static func ofContinuable(_ fields: HTTPFields) -> String? {
        guard fields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true,
            fields[.acceptRanges]?.lowercased() != "none"
        else { return nil }
        if let tag = fields[.eTag] { return tag.hasPrefix("\"") && tag.count > 2 ? tag : nil }
        // A date is strong if the file was not modified within or shortly before the second in which it was sent.
        guard let text = fields[.lastModified], let modified = HTTPDate.seconds(text),
            let sent = fields[.date].flatMap(HTTPDate.seconds), sent - modified >= 60
        else { return nil }
        return text
    }

    /// Returns whether a response with these fields declares exactly this version.
    package static func isDeclared(_ validator: String, by fields: HTTPFields) -> Bool {
        fields[validator.hasPrefix("\"") ? .eTag : .lastModified] == validator
    }

    /// Returns whether a response with these fields has the requested version, or declares none.
    package static func matches(_ validator: String, _ fields: HTTPFields) -> Bool {
        (validator.hasPrefix("\"") ? fields[.eTag] : fields[.lastModified]).map { $0 == validator } ?? true
    }
}
