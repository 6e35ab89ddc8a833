public import HTTPTransport
public import Logging
public import ResponseCache

extension ImageLoader {
    /// The settings of a loader.
    ///
    /// Every part has reasonable defaults.
    public struct Configuration: Sendable {
        /// The settings of downloads, such as their order, limits, header fields, and deadlines.
        public var downloads: DownloadConfiguration
        /// The settings of connections, proxy, and TLS.
        public var transport: CurlTransport.Configuration
        /// The sources of images for URLs of other schemes than http and https; by default none.
        ///
        /// Of several for a scheme, the first is used.
        public var sources: [URLSource]
        /// The threads, memory, and limits of decoding.
        public var decoding: ImageDecoder.Configuration
        /// The policy for previews.
        public var previews: PreviewPolicy
        /// The maximum size of the ``MemoryCache``, in bytes; 0 to cache no decoded images.
        public var maximumMemoryCacheBytes: Int
        /// The time after which the ``MemoryCache`` no longer returns an image, counted from its insertion; `nil` for
        /// no limit.
        ///
        /// The memory cache ignores the freshness of responses, but never contains images of responses with `no-store`.
        /// A maximum age bounds how outdated an image can be.
        public var maximumMemoryCacheAge: Duration?
        /// The cache of decoded images, which can be shared by several loaders; `nil` for a ``MemoryCache`` of this
        /// loader with the limits ``maximumMemoryCacheBytes`` and ``maximumMemoryCacheAge``.
        public var imageCache: (any ImageCache)?
        /// A Boolean value that indicates whether the loader releases memory whenever the system reports that processes
        /// wait for memory: it trims ``imageCache`` to half of its size, and releases the buffers that it keeps for
        /// reuse.
        ///
        /// On Linux, the loader observes the pressure stall information of its control group or of the machine. On
        /// systems without it, call ``ImageCache/trim(to:)`` yourself.
        public var trimsUnderMemoryPressure: Bool
        /// The cache of responses; `nil` for none.
        public var responseCache: ResponseCache?
        /// The policy for using cached responses and images, unless a request specifies one.
        public var cachePolicy: CachePolicy
        /// The rule for the ``ImageRequest/cacheKey`` of requests without one: it returns the key for a URL, such as the
        /// URL without the signature in its query, or `nil` for the URL itself; `nil` for no rule.
        ///
        /// It is called for every request, so it must be fast.
        public var cacheKeyRule: (@Sendable (_ url: String) -> String?)?
        /// The logger for downloads.
        ///
        /// Messages have the level `debug`, except that a response cache that cannot store responses is reported with
        /// the level `warning`, and defects in the loader with `error`. The threads that call the log handler, of
        /// which the main thread can be one, serve many downloads, so it must not block.
        public var logger: Logger
        /// A Boolean value that indicates whether logs and traces contain the queries of URLs; by default, `…` is in their
        /// place, because they can contain signatures and other secrets.
        ///
        /// Events and errors always have the whole URL, without user name and password.
        public var recordsQueries = false
        /// The metrics to record, or `nil` to record none, which has no overhead.
        public var metrics: MetricsConfiguration?
        #if Tracing
        /// The traces to record, or `nil` to record none, which has no overhead.
        ///
        /// This property exists only with the package trait `Tracing`, so it is not a parameter of the initializer.
        public var tracing: TracingConfiguration?
        #endif

        /// Creates a configuration with the defaults of each part and a memory cache of 128 MiB.
        public init(
            downloads: DownloadConfiguration = DownloadConfiguration(),
            transport: CurlTransport.Configuration = CurlTransport.Configuration(),
            sources: [URLSource] = [],
            decoding: ImageDecoder.Configuration = ImageDecoder.Configuration(),
            previews: PreviewPolicy = PreviewPolicy(),
            maximumMemoryCacheBytes: Int = 128 << 20,
            maximumMemoryCacheAge: Duration? = nil,
            imageCache: (any ImageCache)? = nil,
            trimsUnderMemoryPressure: Bool = true,
            responseCache: ResponseCache? = nil,
            cachePolicy: CachePolicy = .useProtocol,
            logger: Logger = Logger(label: "async-web-image"),
            metrics: MetricsConfiguration? = nil
        ) {
            self.downloads = downloads
            self.transport = transport
            self.sources = sources
            self.decoding = decoding
            self.previews = previews
            self.maximumMemoryCacheBytes = maximumMemoryCacheBytes
            self.maximumMemoryCacheAge = maximumMemoryCacheAge
            self.imageCache = imageCache
            self.trimsUnderMemoryPressure = trimsUnderMemoryPressure
            self.responseCache = responseCache
            self.cachePolicy = cachePolicy
            self.logger = logger
            self.metrics = metrics
        }
    }
}
