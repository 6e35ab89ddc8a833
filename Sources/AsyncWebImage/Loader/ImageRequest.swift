public import FoundationEssentials
public import HTTPTypes

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

    /// A request for the image at `url`.
    ///
    /// Whether the text is a URL is found out when it is loaded.
    public init(
        _ url: String,
        options: DecodeOptions = DecodeOptions(),
        priority: DownloadPriority = .normal,
        headerFields: HTTPFields = [:]
    ) {
        self.url = url
        self.options = options
        self.priority = priority
        self.headerFields = headerFields
    }

    /// A request for the image at `url`.
    public init(
        url: URL,
        options: DecodeOptions = DecodeOptions(),
        priority: DownloadPriority = .normal,
        headerFields: HTTPFields = [:]
    ) {
        self.init(url.absoluteString, options: options, priority: priority, headerFields: headerFields)
    }

    /// A request for the image at `url`, neither side longer than `maximumSide` pixels.
    public init(_ url: String, maximumSide: Int) {
        self.init(url, options: DecodeOptions(target: .maximumSide(maximumSide)))
    }
}
