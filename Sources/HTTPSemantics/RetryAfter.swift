package import HTTPTypes

/// The time that a server asks clients to wait (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Returns the number of seconds in the fields of a response; `nil` if there is none.
    package static func seconds(_ fields: HTTPFields) -> Int? {
        guard let text = fields[.retryAfter] else { return nil }
        if let seconds = DeltaSeconds.seconds(text) { return seconds }
        // Relative to the server's clock, if declared: the local clock can be wrong.
        guard let date = HTTPDate.seconds(text) else { return nil }
        return max(0, date - (fields[.date].flatMap(HTTPDate.seconds) ?? HTTPDate.now))
    }
}
