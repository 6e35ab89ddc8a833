public import HTTPTypes
import ImageCodecs

/// How downloads are made.
public struct DownloadConfiguration: Sendable {
    /// The maximum number of downloads that run at a time; at least one does.
    ///
    /// Neither this nor the limits of a host hold up what a ``ResponseCache`` can answer, unless there is a
    /// ``requestModifier``, which is asked only when a request is about to be sent.
    public var maximumConcurrentDownloads: Int
    /// The maximum number of downloads from one host that run at a time; at least one does.
    public var maximumConcurrentDownloadsPerHost: Int
    /// How often downloads from one host may start, whatever is free; nil for as often as they can.
    public var rateLimitPerHost: RateLimit?
    /// In which order downloads of one priority run.
    public var executionOrder: ExecutionOrder
    /// Header fields of every request.
    ///
    /// A request's own fields replace those of the same name.
    public var headerFields: HTTPFields
    /// How long the parts of a download may take.
    ///
    /// `total` is the limit for the whole download: look-up, hooks, every attempt and the delays between them, but not the
    /// wait for the first slot. An attempt that could not begin before its end is not made. The download then fails with
    /// `timedOut(.total)`, which is not retryable.
    public var deadlines: Deadlines
    /// The maximum number of bytes of a body.
    public var bodyLimit: Int
    /// The maximum number of redirects that are followed.
    public var redirectLimit: Int
    /// The header fields that redirects forward to other origins, and the rule for https to http.
    public var redirectPolicy: RedirectPolicy
    /// The statuses whose body is the image; a part of one (206) that nobody asked for never is.
    public var acceptedStatuses: ClosedRange<Int>
    /// The media types that are taken, such as `image/*`; nil takes any, as many servers get them wrong.
    public var acceptedContentTypes: [String]?
    /// The rules for retrying failed downloads, or `nil` to never retry.
    public var retry: (any RetryPolicy)?
    /// The maximum number of bytes that are kept in memory of bodies whose download was canceled or has failed, to go
    /// on from there.
    ///
    /// None are of requests with ``CachePolicy/reload`` or ``CachePolicy/noStore``, nor where request or response say
    /// `no-store`. A ``ResponseCache`` keeps them besides, as far as they may be stored.
    public var resumableLimit: Int
    /// What may replace or refuse each request.
    public var requestModifier: (any RequestModifier)?
    /// What may refuse each response.
    public var responseValidator: (any ResponseValidator)?
    /// What makes other bytes of each body.
    public var bodyTransform: (any BodyTransform)?
    /// Up to how many bytes of a body that is only decoded are kept while it arrives, so that callers can still join.
    ///
    /// A larger body is dropped as it is decoded; who then asks for other pixels of it causes a request of its own. Where one
    /// and a half times the ``bytesInFlightLimit`` is held, so are smaller ones.
    public var replayLimit: Int
    /// While downloads hold so many bytes of bodies that are arriving, or wait to be decoded, no further one starts.
    ///
    /// Downloads that run go on up to twice as many bytes, then the large ones among them pause, but for one: so no more is
    /// held than twice the limit and one body of at most ``bodyLimit``. A body that is larger than the limit, and kept whole
    /// as by ``ImageLoader/data(for:)``, lets others start only when it is delivered. What libcurl buffers of a paused
    /// HTTP/2 stream is not counted.
    public var bytesInFlightLimit: Int

    /// SDWebImage's defaults where it has any: 6 at a time, first come first served, 15 seconds without a byte; three
    /// tries, and 32 MiB of interrupted bodies.
    public init(
        maximumConcurrentDownloads: Int = 6,
        maximumConcurrentDownloadsPerHost: Int = 6,
        rateLimitPerHost: RateLimit? = nil,
        executionOrder: ExecutionOrder = .fifo,
        headerFields: HTTPFields = DownloadConfiguration.defaultHeaderFields,
        deadlines: Deadlines = Deadlines(),
        bodyLimit: Int = 512 << 20,
        redirectLimit: Int = 10,
        redirectPolicy: RedirectPolicy = RedirectPolicy(),
        acceptedStatuses: ClosedRange<Int> = 200...299,
        acceptedContentTypes: [String]? = nil,
        retry: (any RetryPolicy)? = ExponentialBackoff(),
        resumableLimit: Int = 32 << 20,
        requestModifier: (any RequestModifier)? = nil,
        responseValidator: (any ResponseValidator)? = nil,
        bodyTransform: (any BodyTransform)? = nil,
        replayLimit: Int = 4 << 20,
        bytesInFlightLimit: Int = 64 << 20
    ) {
        self.maximumConcurrentDownloads = maximumConcurrentDownloads
        self.maximumConcurrentDownloadsPerHost = maximumConcurrentDownloadsPerHost
        self.rateLimitPerHost = rateLimitPerHost
        self.executionOrder = executionOrder
        self.headerFields = headerFields
        self.deadlines = deadlines
        self.bodyLimit = bodyLimit
        self.redirectLimit = redirectLimit
        self.redirectPolicy = redirectPolicy
        self.acceptedStatuses = acceptedStatuses
        self.acceptedContentTypes = acceptedContentTypes
        self.retry = retry
        self.resumableLimit = resumableLimit
        self.requestModifier = requestModifier
        self.responseValidator = responseValidator
        self.bodyTransform = bodyTransform
        self.replayLimit = replayLimit
        self.bytesInFlightLimit = bytesInFlightLimit
    }

    /// `Accept` for the formats that are built in, and `User-Agent`.
    public static let defaultHeaderFields: HTTPFields = [
        .accept: acceptedTypes(ImageFormat.allBuiltIn),
        .userAgent: "async-web-image/0.1",
    ]

    /// The value of `Accept` for these formats, and for images of any other kind after them.
    private static func acceptedTypes(_ formats: [ImageFormat]) -> String {
        (formats.map(\.mediaType) + ["image/*;q=0.8"]).joined(separator: ",")
    }

    /// Names further formats in `Accept`, unless that is not the usual one.
    mutating func accept(_ customFormats: [any CustomFormat]) {
        guard !customFormats.isEmpty, headerFields[.accept] == Self.defaultHeaderFields[.accept] else { return }
        headerFields[.accept] = Self.acceptedTypes(customFormats.map(\.format) + ImageFormat.allBuiltIn)
    }

    var slots: Int { max(1, maximumConcurrentDownloads) }
    var slotsPerHost: Int { max(1, maximumConcurrentDownloadsPerHost) }
}
