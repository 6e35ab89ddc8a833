/// The settings of a single request that replace those of ``DownloadConfiguration``; `nil` keeps them.
///
/// Requests with different settings never share a download. They share images in ``ImageLoader/imageCache`` and responses
/// in a ``ResponseCache``, where ``maximumBodyBytes`` and ``acceptedContentTypes`` apply to responses as well.
public struct TransferOptions: Sendable, Hashable {
    /// The rules for retrying, instead of ``DownloadConfiguration/retry``; with a single attempt, there are no retries.
    public var retry: ExponentialBackoff?
    /// The maximum number of bytes of the body.
    public var maximumBodyBytes: Int?
    /// The accepted media types, such as `image/*`.
    public var acceptedContentTypes: [String]?
    /// The maximum number of redirects to follow.
    public var maximumRedirects: Int?

    /// Creates settings for a request.
    public init(
        retry: ExponentialBackoff? = nil, maximumBodyBytes: Int? = nil, acceptedContentTypes: [String]? = nil,
        maximumRedirects: Int? = nil
    ) {
        self.retry = retry
        self.maximumBodyBytes = maximumBodyBytes
        self.acceptedContentTypes = acceptedContentTypes
        self.maximumRedirects = maximumRedirects
    }
}
