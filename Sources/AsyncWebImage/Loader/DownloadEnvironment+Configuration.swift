import HTTPTransport

extension DownloadEnvironment {
    /// Creates the environment of a loader with this configuration.
    init(
        _ configuration: ImageLoader.Configuration, transport: any Transport, decoder: ImageDecoder,
        buffers: BufferPool, cache: any ImageCache, cacheMetrics: MemoryCacheMetrics?, clock: any Clock<Duration>
    ) {
        self.transport = transport
        self.decoder = decoder
        self.buffers = buffers
        self.cache = cache
        self.cacheMetrics = cacheMetrics
        responseCache = configuration.responseCache
        previews = configuration.previews
        logger = configuration.logger
        #if Tracing
        tracing = configuration.tracing
        #endif
        self.clock = clock
    }
}
