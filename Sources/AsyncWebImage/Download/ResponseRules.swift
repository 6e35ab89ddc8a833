import HTTPTransport
import HTTPTypes

/// Which responses are taken for the image that was asked for.
struct ResponseRules: Sendable {
    /// The statuses that come with a body.
    let statuses: ClosedRange<Int>
    /// Media types, `*` standing for all of a kind; nil takes any.
    let contentTypes: [String]?
    /// Most bytes of a body.
    let bodyLimit: Int

    init(_ configuration: DownloadConfiguration) {
        statuses = configuration.acceptedStatuses
        contentTypes = configuration.acceptedContentTypes?.map { $0.lowercased() }
        bodyLimit = configuration.bodyLimit
    }

    /// Whether the status is that of a whole body.
    ///
    /// A part of it (206) is none unless it was asked for, which is found out elsewhere.
    func accepts(_ status: HTTPResponse.Status) -> Bool {
        statuses.contains(status.code) && status != .partialContent
    }

    /// Whether the body is of a type that is wanted; a response that does not say is.
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
