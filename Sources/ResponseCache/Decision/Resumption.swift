import HTTPSemantics
package import HTTPTransport
package import HTTPTypes

/// The offset and strong validator with which an interrupted download resumes.
///
/// Only strong validators are used, so that equal means identical byte for byte (RFC 9110, section 8.8.1): the server
/// then sends the remainder if its version is still the same, and the whole body otherwise.
package struct Resumption: Sendable {
    /// The minimum number of bytes; fewer are downloaded again just as quickly.
    package static let minimumBytes = 16 << 10

    /// The head of the interrupted response.
    package let head: ResponseHead
    /// The value of `If-Range`: a strong entity tag, or an equivalent date.
    package let validator: [UInt8]
    /// The number of bytes received.
    package let offset: Int
    /// The length of the whole body in bytes; `nil` if unknown.
    package let total: Int?
    /// The bytes of an earlier download; `nil` if they are in the log already.
    package var stored: [[UInt8]]?

    /// Creates a resumption; returns `nil` if the response cannot be continued.
    package init?(_ head: ResponseHead, offset: Int, total: Int?) {
        guard offset > 0, total.map({ offset < $0 }) ?? true,
            let validator = StrongValidator.ofContinuable(head.response.headerFields)
        else { return nil }
        self.head = head
        self.validator = validator
        self.offset = offset
        self.total = total
    }

    /// Adds the fields that request the remainder.
    package func add(to fields: inout HTTPFields) {
        fields[.range] = "bytes=\(offset)-"
        fields.set(.ifRange, validator)
    }

    /// Returns whether a response with status 206 is exactly that remainder.
    package func isContinued(by head: ResponseHead) -> Bool {
        let fields = head.response.headerFields
        // A validator applies to one resource (RFC 9110, section 8.8.1); a redirect may have led to another.
        guard head.url.string == self.head.url.string,
            let range = fields[.contentRange].flatMap(ContentRange.init), range.first == offset,
            fields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true
        else { return false }
        // If the length of the whole is unknown, it is unknown whether it ends with this part. A partial remainder
        // would end too early, and its continuation would be requested repeatedly.
        guard let whole = total ?? range.total, whole == range.total ?? whole, range.last == whole - 1 else {
            return false
        }
        guard StrongValidator.isDeclared(validator, by: fields) else { return false }
        return head.contentLength.map { $0 == range.last - range.first + 1 } ?? true
    }

    /// Returns the length of the whole body, given the head of the remainder.
    package func total(with head: ResponseHead) -> Int? {
        total ?? head.response.headerFields[.contentRange].flatMap(ContentRange.init)?.total
    }
}
