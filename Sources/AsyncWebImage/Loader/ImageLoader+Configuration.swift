public import HTTPTransport
public import Logging
public import ResponseCache

extension ImageLoader {
    /// How a loader works.
    ///
    /// Every part has sane defaults.
    public struct Configuration: Sendable {
        /// Order, limits, header fields and deadlines of downloads.
        public var downloads: DownloadConfiguration
        /// Connections, proxy and TLS.
        public var transport: CurlTransport.Configuration
        /// Threads, memory and limits of decodes.
        public var decoding: ImageDecoder.Configuration
        /// Which previews are made, and what they may cost.
        public var previews: ProgressivePolicy
        /// The maximum number of bytes of pixels that are kept for the next time; 0 keeps nothing.
        public var memoryCacheLimit: Int
        /// Where responses are kept as they came; nil keeps none.
        public var responseCache: ResponseCache?
        /// What stored responses and finished images may be used for, unless a request says otherwise.
        public var cachePolicy = CachePolicy.useProtocol
        /// Where downloads are logged, at level debug.
        public var logger: Logger
        /// Where downloads are counted and timed; nil, which costs nothing, is nowhere.
        public var metrics: MetricsConfiguration?
        #if Tracing
        /// Where downloads are traced; nil, which costs nothing, is nowhere.
        public var tracing: TracingConfiguration?
        #endif

        /// The defaults of each part, and 128 MiB of memory cache.
        public init(
            downloads: DownloadConfiguration = DownloadConfiguration(),
            transport: CurlTransport.Configuration = CurlTransport.Configuration(),
            decoding: ImageDecoder.Configuration = ImageDecoder.Configuration(),
            previews: ProgressivePolicy = ProgressivePolicy(),
            memoryCacheLimit: Int = 128 << 20,
            logger: Logger = Logger(label: "async-web-image"),
            metrics: MetricsConfiguration? = nil
        ) {
            self.downloads = downloads
            self.transport = transport
            self.decoding = decoding
            self.previews = previews
            self.memoryCacheLimit = memoryCacheLimit
            self.logger = logger
            self.metrics = metrics
        }
    }
}
