import HTTPTransport
import Logging

/// The objects that downloads use, for the lifetime of a loader.
struct DownloadEnvironment: Sendable {
    let transport: any Transport
    let decoder: ImageDecoder
    let buffers: BufferPool
    let cache: any ImageCache
    let cacheMetrics: MemoryCacheMetrics?
    let responseCache: ResponseCache?
    let previews: ProgressivePolicy
    let logger: Logger
    #if Tracing
    let tracing: TracingConfiguration?
    #endif
    /// The clock of rates, deadlines, and delays between attempts.
    let clock: any Clock<Duration>
}
