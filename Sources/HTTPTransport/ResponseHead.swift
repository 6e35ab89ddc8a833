public import HTTPSemantics
public import HTTPTypes

/// The head of the final response of a transfer.
public struct ResponseHead: Sendable {
    private enum Content {
        case raw(RawResponseHead)
        case response(HTTPResponse)
        case unparsed(any UnparsedResponse)
    }

    /// The shared properties, because heads are copied often.
    private final class Properties: Sendable {
        let content: Content
        let url: HTTPURL
        let redirectCount: Int
        let redirection: Redirection?
        let receivedAt: Int
        let delay: Int

        init(
            _ content: consuming Content, url: HTTPURL, redirectCount: Int, redirection: Redirection?,
            receivedAt: Int, delay: Int = 0
        ) {
            self.content = content
            self.url = url
            self.redirectCount = redirectCount
            self.redirection = redirection
            self.receivedAt = receivedAt
            self.delay = delay
        }
    }

    private let properties: Properties

    private var content: Content { properties.content }
    /// The URL that responded, after redirects.
    public var url: HTTPURL { properties.url }
    /// The number of redirects followed.
    public var redirectCount: Int { properties.redirectCount }
    /// A redirect that the sender of the request follows itself; `nil` for other responses.
    package var redirection: Redirection? { properties.redirection }
    /// The time of the response, in seconds since 1970: when it was received, or taken from a cache, from which time its
    /// `Age` counts.
    package var receivedAt: Int { properties.receivedAt }
    /// The time when the request was made, in seconds since 1970.
    package var requestedAt: Int { receivedAt - delay }
    /// The response if its fields are parsed on demand; `nil` for others.
    package var unparsed: (any UnparsedResponse)? {
        if case .unparsed(let response) = content { response } else { nil }
    }
    /// The time between the request and the head, in whole seconds, which counts as age (RFC 9111, section 4.2.3).
    private var delay: Int { properties.delay }

    /// The properties of a redirect that its head does not contain.
    package struct Redirection: Sendable {
        /// A Boolean value that indicates whether the transport has sent credentials that the request did not contain.
        package let addsCredentials: Bool
    }

    /// Creates the head of a response that has just been received, for a custom transport.
    public init(response: HTTPResponse, url: HTTPURL, redirectCount: Int = 0) {
        properties = Properties(
            .response(response), url: url, redirectCount: redirectCount, redirection: nil, receivedAt: HTTPDate.now)
    }

    /// Creates the head of a response that is taken from a cache at a time, in seconds since 1970, whose fields are
    /// parsed on demand.
    package init(_ response: any UnparsedResponse, url: HTTPURL, redirectCount: Int, receivedAt: Int) {
        properties = Properties(
            .unparsed(response), url: url, redirectCount: redirectCount, redirection: nil, receivedAt: receivedAt)
    }

    /// Creates the head of a response that has just been received, `delay` after its request.
    init(
        _ head: RawResponseHead, url: HTTPURL, redirectCount: Int, redirection: Redirection? = nil,
        delay: Duration = .zero
    ) {
        properties = Properties(
            .raw(head), url: url, redirectCount: redirectCount, redirection: redirection, receivedAt: HTTPDate.now,
            delay: Int(delay.components.seconds))
    }

    /// Returns the head with other times of the request and the response, in seconds since 1970.
    package func timed(requestedAt: Int, receivedAt: Int) -> ResponseHead {
        ResponseHead(
            Properties(
                content, url: url, redirectCount: redirectCount, redirection: redirection, receivedAt: receivedAt,
                delay: max(0, receivedAt - requestedAt)))
    }

    /// The head of the same response with another body, whose length is unknown.
    var withoutLength: ResponseHead {
        var response = response
        response.headerFields[.contentLength] = nil
        return ResponseHead(
            Properties(
                .response(response), url: url, redirectCount: redirectCount, redirection: redirection,
                receivedAt: receivedAt, delay: delay))
    }

    private init(_ properties: Properties) { self.properties = properties }

    /// The status.
    public var status: HTTPResponse.Status {
        switch content {
        case .raw(let head): head.status
        case .response(let response): response.status
        case .unparsed(let response): response.status
        }
    }

    /// The status and header fields.
    ///
    /// Parsed on every access: store the result if you need it repeatedly.
    public var response: HTTPResponse {
        switch content {
        case .raw(let head): head.response
        case .response(let response): response
        case .unparsed(let response): response.parsed
        }
    }

    /// Returns how long the response stays fresh after a time, in seconds since 1970; by default, after now.
    ///
    /// The time since the request was made counts, and so does the age of the response in the caches that it came from,
    /// including the ``ResponseCache``. Redirects that led to it count only for
    /// ``Freshness/cacheControl(maximum:isPrivate:)``.
    public func freshness(at time: Int? = nil) -> Freshness {
        Freshness(
            response, requestedAt: requestedAt, receivedAt: receivedAt, at: time ?? HTTPDate.now,
            isRedirected: redirectCount > 0)
    }

    /// The memory that the header fields take, in bytes.
    package var fieldByteCount: Int {
        switch content {
        case .raw(let head): head.fieldByteCount
        case .response(let response):
            response.headerFields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        case .unparsed(let response): response.fieldByteCount
        }
    }

    /// The value of `Content-Length` in bytes; `nil` if it is missing or invalid.
    public var contentLength: Int? {
        switch content {
        case .raw(let head): head.contentLength
        case .response(let response):
            response.headerFields[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
        case .unparsed(let response): response.contentLength
        }
    }
}

/// A status and header fields that are parsed on demand.
package protocol UnparsedResponse: Sendable {
    /// The status.
    var status: HTTPResponse.Status { get }

    /// The value of `Content-Length`; `nil` if there is none.
    var contentLength: Int? { get }

    /// The memory that the header fields take, in bytes.
    var fieldByteCount: Int { get }

    /// The status and header fields; parsed on every access.
    var parsed: HTTPResponse { get }
}
