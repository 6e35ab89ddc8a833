public import HTTPTypes

/// The head of the final response of a transfer.
public struct ResponseHead: Sendable, Hashable {
    /// Status and header fields.
    public var response: HTTPResponse
    /// The URL that answered, after redirects.
    public var url: HTTPURL
    /// How many redirects led there.
    public var redirectCount: Int

    /// A head as a transport makes it.
    public init(response: HTTPResponse, url: HTTPURL, redirectCount: Int = 0) {
        self.response = response
        self.url = url
        self.redirectCount = redirectCount
    }

    /// What `Content-Length` claims, in bytes; nil without a valid one.
    public var contentLength: Int? {
        response.headerFields[.contentLength].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
