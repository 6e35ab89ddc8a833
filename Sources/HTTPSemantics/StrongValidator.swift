package import HTTPTypes

/// What says that a body is the same to the byte (RFC 9110, section 8.8.1), so that it can be continued.
package enum StrongValidator {
    /// What `If-Range` is to say about a response with these fields; nil if it cannot be continued.
    package static func ofContinuable(_ fields: HTTPFields) -> String? {
        guard fields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true,
            fields[.acceptRanges]?.lowercased() != "none"
        else { return nil }
        if let tag = fields[.eTag] { return tag.hasPrefix("\"") && tag.count > 2 ? tag : nil }
        // A date is strong if the file was not changed in the same second in which it was sent, or just before.
        guard let text = fields[.lastModified], let modified = HTTPDate.seconds(text),
            let sent = fields[.date].flatMap(HTTPDate.seconds), sent - modified >= 60
        else { return nil }
        return text
    }

    /// Returns whether an answer with these fields is of the version that was asked for, or does not say.
    package static func matches(_ validator: String, _ fields: HTTPFields) -> Bool {
        (validator.hasPrefix("\"") ? fields[.eTag] : fields[.lastModified]).map { $0 == validator } ?? true
    }
}
