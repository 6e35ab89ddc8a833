import HTTPSemantics
package import HTTPTransport
package import HTTPTypes

/// Where, and by what right, an interrupted body is continued.
///
/// Only with a validator that is strong, so that equal means equal to the byte (RFC 9110, section 8.8.1): the server then
/// sends the rest if it still has the same, and everything otherwise.
package struct Resumption: Sendable {
    /// Less is as quickly fetched again.
    package static let minimumBytes = 16 << 10

    /// What the bytes that there are came with.
    package let head: ResponseHead
    /// What `If-Range` is to say: a strong entity tag, or a date that is as good as one.
    package let validator: String
    /// How many bytes there are.
    package let offset: Int
    /// How long the whole is; nil if nobody said.
    package let total: Int?
    /// The bytes of an earlier download; nil if they are in the log already.
    package var stored: [[UInt8]]?

    /// Nil if the response cannot be continued.
    package init?(_ head: ResponseHead, offset: Int, total: Int?) {
        guard offset > 0, total.map({ offset < $0 }) ?? true,
            let validator = StrongValidator.ofContinuable(head.response.headerFields)
        else { return nil }
        self.head = head
        self.validator = validator
        self.offset = offset
        self.total = total
    }

    /// The fields that ask for the rest.
    package func add(to fields: inout HTTPFields) {
        fields[.range] = "bytes=\(offset)-"
        fields[.ifRange] = validator
    }

    /// Whether an answer of status 206 is that rest, and nothing else.
    package func isContinued(by head: ResponseHead) -> Bool {
        let fields = head.response.headerFields
        // A validator is that of one resource (RFC 9110, section 8.8.1); a redirect may have led to another.
        guard head.url.string == self.head.url.string,
            let range = fields[.contentRange].flatMap(ContentRange.init), range.first == offset,
            fields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true
        else { return false }
        // If neither says how long the whole is, nobody knows whether it ends with this part. A part of the rest would end
        // too early, and a later one would be asked for again and again.
        guard let whole = total ?? range.total, whole == range.total ?? whole, range.last == whole - 1 else {
            return false
        }
        guard StrongValidator.matches(validator, fields) else { return false }
        return head.contentLength.map { $0 == range.last - range.first + 1 } ?? true
    }

    /// How long the whole is, given the head of the rest.
    package func total(with head: ResponseHead) -> Int? {
        total ?? head.response.headerFields[.contentRange].flatMap(ContentRange.init)?.total
    }
}
