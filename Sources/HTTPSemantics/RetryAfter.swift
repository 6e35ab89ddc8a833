package import HTTPTypes

/// How long a server asks its clients to wait (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// The seconds that the fields of a response name; nil if they name none.
    package static func seconds(_ fields: HTTPFields) -> Int? {
        guard let text = fields[.retryAfter] else { return nil }
        if let seconds = DeltaSeconds.seconds(text) { return seconds }
        // By the server's own clock, if it tells: ours may be wrong.
        guard let date = HTTPDate.seconds(text) else { return nil }
        return max(0, date - (fields[.date].flatMap(HTTPDate.seconds) ?? HTTPDate.now))
    }
}
