public import CoreMetrics

/// The configuration of the metrics that a loader records with swift-metrics.
///
/// - `webimage_downloads_started_total`: downloads whose first attempt began.
/// - `webimage_downloads_total`: downloads that ended, by `outcome`: `finished`, `failed`, or `cancelled`.
/// - `webimage_download_failures_total`: failed downloads, by `code` (``ImageError/Code``), such as `http_503`,
///   `timeout_idle`, or `truncated`.
/// - `webimage_download_retries_total`: failed attempts that were followed by another.
/// - `webimage_downloaded_bytes_total`: the size of complete bodies, in bytes.
/// - `webimage_download_duration_seconds`: a timer from the request to the end, by `outcome`, including the waits for
///   a slot and between attempts; not for canceled downloads.
/// - `webimage_download_wait_seconds`: a timer of the wait for the first slot, including a lookup in the response cache.
/// - `webimage_download_first_byte_seconds`: a timer of each attempt, from its start to the head of its response.
/// - `webimage_downloads_running` and `webimage_downloads_waiting`: meters of the downloads with an active attempt, and
///   of those that wait for their first attempt.
/// - `webimage_bytes_in_flight`: a meter of the bytes that downloads hold in bodies, set when it may have changed.
/// - `webimage_decode_duration_seconds`: a timer of each decode of pixels, from the grant of its memory to its end, by
///   `outcome`: `finished` or `failed`; it includes the waits for bytes.
/// - `webimage_decode_memory_wait_seconds`: a timer of the wait of decodes and other work for memory.
/// - `webimage_decoder_work_seconds`: a timer of ``ImageDecoder/perform(_:)``, such as encoding, with its wait for a thread.
/// - `webimage_memory_cache_hits_total`, `webimage_memory_cache_misses_total`: requests for images that were found in
///   the memory cache, and those that were not; requests whose policy ignores the cache do not count.
/// - `webimage_memory_cache_evictions_total`: images that were removed to make room, or because they expired.
/// - `webimage_response_cache_hits_total`, `webimage_response_cache_revalidations_total`,
///   `webimage_response_cache_misses_total`, `webimage_response_cache_evictions_total`: the uses of the ``ResponseCache``
///   (see ``ResponseCache/Statistics``), recorded by the first loader with metrics that uses it.
///
/// All names and dimension values are known in advance: they contain neither URLs nor hosts. Results from the memory
/// cache do not count as downloads; responses from a ``ResponseCache`` do. Counters exist from the beginning, except for
/// failures with rare statuses.
public struct MetricsConfiguration: Sendable {
    /// The factory of the counters, timers, and meters.
    public var factory: any MetricsFactory
    /// Additional dimensions of every metric, for example to distinguish loaders.
    public var dimensions: [(String, String)]

    /// Creates a configuration for `factory`, by default that of the process; call `MetricsSystem.bootstrap` first.
    public init(factory: any MetricsFactory = MetricsSystem.factory, dimensions: [(String, String)] = []) {
        self.factory = factory
        self.dimensions = dimensions
    }
}
