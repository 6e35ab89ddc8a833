import HTTPTransport
import Logging
import ResponseCache

/// The objects that downloads use, for the lifetime of a loader.
struct DownloadEnvironment: Sendable {
    let transport: any Transport
    let decoder: ImageDecoder
    let buffers: BufferPool
    let images: FinishedImages
    let responseCache: ResponseCache?
    let previews: PreviewPolicy
    let logger: Logger
    /// The clock of rates, deadlines, and delays between attempts.
    let clock: Stopwatch
    #if Tracing
    var tracing: TracingConfiguration?
    #endif
}
