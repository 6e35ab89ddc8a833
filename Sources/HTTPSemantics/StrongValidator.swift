package import HTTPTypes

/// Validators that guarantee byte-for-byte identity (RFC 9110, section 8.8.1), so that a download can be resumed.
package enum StrongValidator {
    /// Returns the value of `If-Range` to resume a response with these fields; `nil` if it cannot be resumed.
    package static func ofContinuable(_ fields: HTTPFields) -> [UInt8]? {
        guard fields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true,
            fields[.acceptRanges]?.lowercased() != "none"
        else { return nil }
        if let tag = fields.bytes(of: .eTag) { return isEntityTag(tag) && tag.count > 2 ? tag : nil }
        // A date is strong if the file was not modified within or shortly before the second in which it was sent.
        guard let text = fields[.lastModified], let modified = HTTPDate.seconds(text),
            let sent = fields[.date].flatMap(HTTPDate.seconds), sent - modified >= 60
        else { return nil }
        return Array(text.utf8)
    }

    /// Returns whether a response with these fields declares exactly this version: only then can it be combined with
    /// others of the version (RFC 9110, section 15.3.7.3).
    package static func isDeclared(_ validator: [UInt8], by fields: HTTPFields) -> Bool {
        fields.bytes(of: isEntityTag(validator) ? .eTag : .lastModified) == validator
    }

    private static func isEntityTag(_ validator: [UInt8]) -> Bool { validator.first == UInt8(ascii: "\"") }
}
