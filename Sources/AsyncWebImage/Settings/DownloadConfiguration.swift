public import HTTPTypes
import ImageCodecs
import Threading

/// The settings of downloads.
public struct DownloadConfiguration: Sendable {
    /// The order of downloads with the same priority.
    public enum ExecutionOrder: Sendable, Hashable {
        /// First in, first out.
        case fifo
        /// Last in, first out: a stack.
        case lifo
    }

    /// The maximum number of concurrent downloads; at least one is always allowed.
    ///
    /// The default, ``defaultMaximumConcurrentDownloads``, is for servers, whose downloads come from many hosts.
    /// SDWebImage's is 6, for a device with one mobile connection; set 6 to get the same.
    ///
    /// Requests that a ``ResponseCache`` can answer do not wait for this limit or for the limits of a host, unless
    /// there is a ``requestModifier``, which is called before the cache is searched and only when the download has a
    /// slot (one of the places that this limit counts).
    public var maximumConcurrentDownloads: Int
    /// The maximum number of concurrent downloads from one host; at least one is always allowed.
    ///
    /// Only a host that is known to speak HTTP/2, where downloads are streams of one connection, gets more than
    /// ``maximumConnectionsPerHost``.
    public var maximumConcurrentDownloadsPerHost: Int
    /// The maximum number of concurrent downloads from one host that does not speak HTTP/2, so that each download
    /// occupies a connection; at least one is always allowed.
    ///
    /// The default is that of browsers. A host counts as one of these until a download from it has ended over HTTP/2.
    /// ``maximumConcurrentDownloadsPerHost`` applies too, so a lower value there is sufficient to limit every host.
    public var maximumConnectionsPerHost: Int
    /// The maximum number of downloads that wait for a slot or for a lookup in the ``ResponseCache``, at least 1; `nil` for
    /// no limit.
    ///
    /// A request fails with ``ImageError/overloaded(retryAfter:url:)`` if it needs a download that would have to wait,
    /// while this many of the same or a higher priority wait. So a request never keeps one of a higher priority out, and
    /// each priority can have as many waiting downloads; what waits keeps its place. Requests that join a download or
    /// find their image in memory never fail, nor do retries. Requests with an ``ImageRequest/slot``, those of an
    /// ``ImagePrefetcher``, and revalidations in the background neither fail nor count: they have limits of their own.
    public var maximumWaitingDownloads: Int?
    /// The maximum time for which a download waits for its first slot; `nil` for no limit.
    ///
    /// After it, or up to a 64th of it later, the download fails with ``ImageError/overloaded(retryAfter:url:)``. Waits
    /// for lookups do not count, nor do those of requests that ``maximumWaitingDownloads`` does not apply to.
    public var maximumQueueTime: Duration?
    /// The rate at which downloads from one host can start; `nil` for no limit.
    public var rateLimitPerHost: RateLimit?
    /// The order of downloads with the same priority.
    public var executionOrder: ExecutionOrder
    /// The header fields of every request.
    ///
    /// A request's own fields replace those with the same name. After a redirect to another origin, only those that
    /// ``redirectPolicy`` forwards are sent.
    public var headerFields: HTTPFields
    /// The time limits of a download.
    ///
    /// `total` limits the whole download: cache lookup, hooks, every attempt, and the delays between them, but not the
    /// wait for the first slot. If the limit passes, or would pass during the delay before the next attempt, the
    /// download fails with `timedOut(.total)`, which is not retryable.
    public var deadlines: Deadlines
    /// The maximum number of bytes of a body.
    public var maximumBodyBytes: Int
    /// The maximum number of redirects to follow.
    public var maximumRedirects: Int
    /// The header fields that redirects forward to other origins, and the rule for https to http.
    public var redirectPolicy: RedirectPolicy
    /// The statuses whose body is accepted as the image; an unrequested partial response (206) never is.
    public var acceptedStatuses: ClosedRange<Int>
    /// The accepted media types, such as `image/*`; `nil` accepts any, and is the default, because many servers send
    /// wrong media types.
    public var acceptedContentTypes: [String]?
    /// The rules for retrying failed downloads, or `nil` to never retry.
    public var retry: (any RetryPolicy)?
    /// The maximum memory used for partial bodies kept so that canceled or failed downloads can resume, in bytes.
    ///
    /// Bodies of requests with ``CachePolicy/reload`` or ``CachePolicy/noStore``, and those whose request or response
    /// contains `no-store`, are not kept. A ``ResponseCache`` also stores partial bodies, if it is allowed to.
    public var maximumResumableBytes: Int
    /// A hook that can replace or reject each request.
    public var requestModifier: (any RequestModifier)?
    /// A hook that can reject each response.
    public var responseValidator: (any ResponseValidator)?
    /// A hook that transforms each body.
    public var bodyTransform: (any BodyTransform)?
    /// The maximum number of bytes of a body kept while it is decoded, so that later callers can share the download.
    ///
    /// A larger body is discarded as it is decoded; a caller that then requests the image with other options causes a
    /// new request. If downloads hold one and a half times ``maximumBytesInFlight``, smaller bodies are discarded as
    /// well.
    public var maximumReplayBytes: Int
    /// The limit on the bytes of bodies that are arriving or waiting to be decoded; at the limit, no further download
    /// starts.
    ///
    /// Active downloads continue. From one and a half times this limit, however, each download has a share: half of
    /// the limit, divided by the number of downloads that can run at a time. Of the downloads whose bodies have reached
    /// this share, all except one are paused, so that at most twice the limit plus one body of at most
    /// ``maximumBodyBytes`` is held. If a body that must be kept in full, such as one for ``ImageLoader/data(for:)``,
    /// is larger than the limit, other downloads start only after it has been delivered. The bytes that a paused
    /// transfer over HTTP/2 holds, at most its window, are not counted.
    public var maximumBytesInFlight: Int
    /// A Boolean value that indicates whether a stale stored response is served while it is revalidated, if its origin
    /// allows that.
    ///
    /// A program that ends as soon as it has its responses would end before they are revalidated.
    package var servesWhileRevalidating = true

    /// Creates a configuration.
    ///
    /// By default, there are up to 128 concurrent downloads, and from one host 6 or, over HTTP/2, 32. As in SDWebImage,
    /// they start in first-in, first-out order, and there are at most 15 seconds without data. Other defaults include
    /// three attempts and 32 MiB of partial bodies.
    public init(
        maximumConcurrentDownloads: Int = DownloadConfiguration.defaultMaximumConcurrentDownloads,
        maximumConcurrentDownloadsPerHost: Int = 32,
        maximumConnectionsPerHost: Int = 6,
        maximumWaitingDownloads: Int? = nil,
        maximumQueueTime: Duration? = nil,
        rateLimitPerHost: RateLimit? = nil,
        executionOrder: ExecutionOrder = .fifo,
        headerFields: HTTPFields = DownloadConfiguration.defaultHeaderFields,
        deadlines: Deadlines = Deadlines(),
        maximumBodyBytes: Int = 512 << 20,
        maximumRedirects: Int = 10,
        redirectPolicy: RedirectPolicy = RedirectPolicy(),
        acceptedStatuses: ClosedRange<Int> = 200...299,
        acceptedContentTypes: [String]? = nil,
        retry: (any RetryPolicy)? = ExponentialBackoff(),
        maximumResumableBytes: Int = 32 << 20,
        requestModifier: (any RequestModifier)? = nil,
        responseValidator: (any ResponseValidator)? = nil,
        bodyTransform: (any BodyTransform)? = nil,
        maximumReplayBytes: Int = 4 << 20,
        maximumBytesInFlight: Int = 64 << 20
    ) {
        self.maximumConcurrentDownloads = maximumConcurrentDownloads
        self.maximumConcurrentDownloadsPerHost = maximumConcurrentDownloadsPerHost
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
        self.maximumWaitingDownloads = maximumWaitingDownloads
        self.maximumQueueTime = maximumQueueTime
        self.rateLimitPerHost = rateLimitPerHost
        self.executionOrder = executionOrder
        self.headerFields = headerFields
        self.deadlines = deadlines
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumRedirects = maximumRedirects
        self.redirectPolicy = redirectPolicy
        self.acceptedStatuses = acceptedStatuses
        self.acceptedContentTypes = acceptedContentTypes
        self.retry = retry
        self.maximumResumableBytes = maximumResumableBytes
        self.requestModifier = requestModifier
        self.responseValidator = responseValidator
        self.bodyTransform = bodyTransform
        self.maximumReplayBytes = maximumReplayBytes
        self.maximumBytesInFlight = maximumBytesInFlight
    }

    /// 128, or half of the files that the process may open (`RLIMIT_NOFILE`) if that is less.
    ///
    /// A ``CurlTransport`` uses at most half of them as connections; with more downloads, some would wait for a
    /// connection while their time runs.
    public static var defaultMaximumConcurrentDownloads: Int {
        maximumConcurrentDownloads(openFileLimit: OpenFileLimit.current)
    }

    /// Returns the default number of concurrent downloads of a process that may open this number of files.
    static func maximumConcurrentDownloads(openFileLimit: Int) -> Int { max(1, min(128, openFileLimit / 2)) }

    /// The formats that servers choose between; BMP and ICO are included in `image/*`.
    private static let negotiatedFormats: [ImageFormat] = [.jpeg, .png, .webp, .gif]

    /// The default fields: `Accept` for JPEG, PNG, WebP, and GIF, and `User-Agent`.
    public static let defaultHeaderFields: HTTPFields = [
        .accept: acceptedTypes(negotiatedFormats),
        .userAgent: "async-web-image/\(PackageVersion.current)",
    ]

    /// Returns a value for `Accept` that lists these formats, then `image/*`.
    private static func acceptedTypes(_ formats: [ImageFormat]) -> String {
        (formats.map(\.mediaType) + ["image/*;q=0.8"]).joined(separator: ",")
    }

    /// Adds custom formats to `Accept`, unless it has been changed.
    mutating func accept(_ customFormats: [any CustomFormat]) {
        guard !customFormats.isEmpty, headerFields[.accept] == Self.defaultHeaderFields[.accept] else { return }
        // Two custom formats can read files of the same type.
        var formats: [ImageFormat] = []
        for custom in customFormats where !formats.contains(custom.format) { formats.append(custom.format) }
        headerFields[.accept] = Self.acceptedTypes(formats + Self.negotiatedFormats)
    }

    var slots: Int { max(1, maximumConcurrentDownloads) }
    var slotsPerHost: Int { max(1, maximumConcurrentDownloadsPerHost) }
    var connectionsPerHost: Int { max(1, maximumConnectionsPerHost) }
}
