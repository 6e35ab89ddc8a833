import HTTPTransport
import HTTPTypes

/// Where, and by what right, an interrupted body is continued.
///
/// Only with a validator that is strong, so that equal means equal to the byte (RFC 9110, section 8.8.1): the server then
/// sends the rest if it still has the same, and everything otherwise.
struct Resumption: Sendable {
    /// What the bytes that there are came with.
    let head: ResponseHead
    /// What `If-Range` is to say: a strong entity tag, or a date that is as good as one.
    let validator: String
    /// How many bytes there are.
    let offset: Int
    /// How long the whole is; nil if nobody said.
    let total: Int?
    /// The bytes of an earlier download; nil if they are in the log already.
    var stored: [[UInt8]]?

    /// Nil if the response cannot be continued.
    init?(_ head: ResponseHead, offset: Int, total: Int?) {
        guard offset > 0, total.map({ offset < $0 }) ?? true,
            let validator = Self.validator(head.response.headerFields)
        else { return nil }
        self.head = head
        self.validator = validator
        self.offset = offset
        self.total = total
    }

    /// What `If-Range` is to say about a response with these fields; nil if it cannot be continued.
    static func validator(_ fields: HTTPFields) -> String? {
        guard fields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true,
            fields[.acceptRanges]?.lowercased() != "none"
        else { return nil }
        return strongValidator(fields)
    }

    /// The fields that ask for the rest.
    func add(to fields: inout HTTPFields) {
        fields[.range] = "bytes=\(offset)-"
        fields[.ifRange] = validator
    }

    /// Whether an answer of status 206 is that rest, and nothing else.
    func isContinued(by head: ResponseHead) -> Bool {
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
        let version = validator.hasPrefix("\"") ? fields[.eTag] : fields[.lastModified]
        if let version, version != validator { return false }
        return head.contentLength.map { $0 == range.last - range.first + 1 } ?? true
    }

    /// How long the whole is, given the head of the rest.
    func total(with head: ResponseHead) -> Int? {
        total ?? head.response.headerFields[.contentRange].flatMap(ContentRange.init)?.total
    }

    private static func strongValidator(_ fields: HTTPFields) -> String? {
        if let tag = fields[.eTag] { return tag.hasPrefix("\"") && tag.count > 2 ? tag : nil }
        // A date is strong if the file was not changed in the same second in which it was sent, or just before.
        guard let text = fields[.lastModified], let modified = HTTPDate.seconds(text),
            let sent = fields[.date].flatMap(HTTPDate.seconds), sent - modified >= 60
        else { return nil }
        return text
    }
}
