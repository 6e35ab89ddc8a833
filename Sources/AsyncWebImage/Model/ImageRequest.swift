import HTTPSemantics
public import FoundationEssentials
public import HTTPTransport
public import HTTPTypes
public import ResponseCache

/// Which image to load, and what to make of it.
public struct ImageRequest: Sendable, Hashable {
    /// An absolute http or https URL.
    public var url: String
    /// Size and orientation wanted; of no meaning to ``ImageLoader/data(for:)``.
    public var options: DecodeOptions
    /// How soon the download gets its turn; of all who share a download the highest counts.
    public var priority: DownloadPriority
    /// Header fields of this request, in place of the configuration's of the same name.
    ///
    /// Requests with different fields never share a download.
    public var headerFields: HTTPFields
    /// What proves to the origin who asks; it is dropped where a redirect leads elsewhere.
    ///
    /// Counts more than user and password in the URL, and than what a ``CredentialProvider`` knows. Requests with different
    /// credentials never share a download.
    public var credential: Credential?
    /// A Boolean value that indicates whether the loader's cookies are sent along, and those of the answer kept; see
    /// ``CurlTransport/Configuration/cookieFile``.
    public var handlesCookies = false
    /// A Boolean value that indicates whether ``ImageLoader/shutdown(gracePeriod:)`` lets the download go on for the
    /// grace period, rather than stop it at once; of all who share a download, one is enough.
    public var finishesOnShutdown = false
    /// What stored responses and finished images may be used for; nil as ``ImageLoader/Configuration/cachePolicy`` has it.
    public var cachePolicy: CachePolicy?
    /// The version that the caller has: if the origin has no other, the request fails with ``ImageError/notModified(_:)``.
    ///
    /// The origin is asked, whatever is stored; only ``CachePolicy/cacheOnly`` takes no notice of it. Header fields of the
    /// request that ask the same have the same effect.
    public var knownVersion: ResponseVersion?

    /// A request for the image at `url`.
    ///
    /// Whether the text is a URL is found out when it is loaded.
    public init(
        _ url: String,
        options: DecodeOptions = DecodeOptions(),
        priority: DownloadPriority = .normal,
        headerFields: HTTPFields = [:],
        credential: Credential? = nil
    ) {
        self.url = url
        self.options = options
        self.priority = priority
        self.headerFields = headerFields
        self.credential = credential
    }

    /// A request for the image at `url`.
    public init(
        url: URL,
        options: DecodeOptions = DecodeOptions(),
        priority: DownloadPriority = .normal,
        headerFields: HTTPFields = [:],
        credential: Credential? = nil
    ) {
        self.init(
            url.absoluteString, options: options, priority: priority, headerFields: headerFields,
            credential: credential)
    }

    /// A request for the image at `url`, neither side longer than `maximumSide` pixels.
    public init(_ url: String, maximumSide: Int) {
        self.init(url, options: DecodeOptions(target: .maximumSide(maximumSide)))
    }
}
