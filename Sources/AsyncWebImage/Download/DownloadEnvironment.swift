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
    /// A Boolean value that indicates whether the queries of URLs are recorded in logs and traces.
    var recordsQueries = false
    /// The clock of rates, deadlines, and delays between attempts.
    let clock: Stopwatch
    #if Tracing
    var tracing: TracingConfiguration?
    #endif

    /// Returns the URL of a download as it is recorded.
    func recorded(_ key: FetchKey) -> String { key.url.recorded(withQuery: recordsQueries) }
}
