public import HTTPTypes

/// The head of the final response of a transfer.
public struct ResponseHead: Sendable {
    private enum Content {
        case raw(RawResponseHead)
        case response(HTTPResponse)
    }

    private let content: Content
    /// The URL that answered, after redirects.
    public let url: HTTPURL
    /// How many redirects led there.
    public let redirectCount: Int

    /// A head of a stand-in for a transport.
    public init(response: HTTPResponse, url: HTTPURL, redirectCount: Int = 0) {
        content = .response(response)
        self.url = url
        self.redirectCount = redirectCount
    }

    init(_ head: RawResponseHead, url: HTTPURL, redirectCount: Int) {
        content = .raw(head)
        self.url = url
        self.redirectCount = redirectCount
    }

    /// The status.
    public var status: HTTPResponse.Status {
        switch content {
        case .raw(let head): head.status
        case .response(let response): response.status
        }
    }

    /// Status and header fields.
    ///
    /// Read from what came over the wire every time: keep it if it is looked at often.
    public var response: HTTPResponse {
        switch content {
        case .raw(let head): head.response
        case .response(let response): response
        }
    }

    /// What `Content-Length` claims, in bytes; nil without a valid one.
    public var contentLength: Int? {
        switch content {
        case .raw(let head): head.contentLength
        case .response(let response):
            response.headerFields[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
        }
    }
}
