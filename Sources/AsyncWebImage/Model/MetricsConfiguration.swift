public import CoreMetrics

/// Where a loader counts what becomes of its downloads, by swift-metrics.
///
/// - `webimage_downloads_started_total`: downloads whose first request was sent.
/// - `webimage_downloads_total`: downloads that ended, by `outcome`: `finished`, `failed` or `cancelled`.
/// - `webimage_download_failures_total`: those that failed, by `kind`, such as `status_5xx`, `timed_out` or `truncated`.
/// - `webimage_download_retries_total`: failed tries that were followed by another.
/// - `webimage_downloaded_bytes_total`: the bodies that have come whole, in bytes.
/// - `webimage_download_duration_seconds`: a timer, from the first wish to the end, by `outcome`, waiting for a slot and
///   between tries included; not of what was canceled.
/// - `webimage_download_first_byte_seconds`: a timer of each try, from its start to the head of its response.
/// - `webimage_downloads_running` and `webimage_downloads_waiting`: meters of downloads that have a slot, and that wait for
///   their first one.
///
/// All names and values of dimensions are known in advance: neither URLs nor hosts are among them. What is answered from the
/// memory cache is no download.
public struct MetricsConfiguration: Sendable {
    /// What makes the counters, timers and meters.
    public var factory: any MetricsFactory
    /// Added to every one of them, such as which of several loaders it is.
    public var dimensions: [(String, String)]

    /// Metrics of `factory`, the one of the process unless another is given; `MetricsSystem.bootstrap` has to come before.
    public init(factory: any MetricsFactory = MetricsSystem.factory, dimensions: [(String, String)] = []) {
        self.factory = factory
        self.dimensions = dimensions
    }
}
