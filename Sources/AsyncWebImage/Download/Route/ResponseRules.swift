import HTTPSemantics
import HTTPTransport
import HTTPTypes

/// The rules for accepting a response as the requested image.
struct ResponseRules: Sendable {
    /// The accepted statuses.
    let statuses: ClosedRange<Int>
    /// The accepted media types, with `*` for all of a kind; `nil` accepts any.
    private(set) var contentTypes: [String]?
    /// The maximum number of bytes of a body.
    private(set) var maximumBodyBytes: Int

    init(_ configuration: DownloadConfiguration) {
        statuses = configuration.acceptedStatuses
        contentTypes = configuration.acceptedContentTypes?.map { $0.lowercased() }
        maximumBodyBytes = configuration.maximumBodyBytes
    }

    /// Returns the rules for a request with settings of its own.
    func with(_ options: TransferOptions?) -> ResponseRules {
        guard let options else { return self }
        var rules = self
        if let types = options.acceptedContentTypes { rules.contentTypes = types.map { $0.lowercased() } }
        if let limit = options.maximumBodyBytes { rules.maximumBodyBytes = max(0, limit) }
        return rules
    }

    /// Returns whether the status is that of a complete body.
    ///
    /// A partial response (206) is not accepted unless it was requested, which is checked elsewhere, or it is complete; see
    /// ``acceptsPart(_:)``.
    func accepts(_ status: HTTPResponse.Status) -> Bool {
        statuses.contains(status.code) && status != .partialContent
    }

    /// Returns whether a partial response (206) to a request for everything is accepted: if its part is the whole.
    func acceptsPart(_ head: ResponseHead) -> Bool {
        statuses.contains(head.status.code) && acceptsType(of: head) && Self.wholeLength(of: head) != nil
    }

    /// Returns the number of received bytes of a partial response that contains everything; `nil` for others.
    static func wholeLength(of head: ResponseHead) -> Int? {
        guard let range = head.response.headerFields[.contentRange].flatMap(ContentRange.init),
            range.length == range.total, head.contentLength ?? range.length == range.length
        else { return nil }
        return range.length
    }

    /// Returns whether the body's type is accepted; an undeclared type is.
    func acceptsType(of head: ResponseHead) -> Bool {
        guard let contentTypes, let field = head.response.headerFields[.contentType] else { return true }
        let type = field.prefix { $0 != ";" && $0 != " " }.lowercased()
        return contentTypes.contains { pattern in
            if pattern == "*/*" { return true }
            guard pattern.hasSuffix("/*") else { return type == pattern }
            return type.hasPrefix(pattern.dropLast())
        }
    }
}
