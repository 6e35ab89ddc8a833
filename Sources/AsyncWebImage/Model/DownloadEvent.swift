public import HTTPTransport

/// Something that happened to a download.
///
/// Of each download come, in this order: `queued`; for every try `started`, `response` and any number of `progress`, and
/// `retrying` between two tries; `stopped`, always and once; after it `finished` if the whole body has come. A download
/// that is canceled before it starts is `queued` and `stopped`. A server that is asked for the rest of a body, and has
/// something else for it, is asked for everything at once: then `started` follows without `retrying`, as nothing has failed.
public struct DownloadEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// Somebody wants it; it waits for its turn, if only for a moment.
        case queued(DownloadPriority)
        /// Its request is handed to the transport, for the first or another time.
        case started(attempt: Int)
        /// The head of a response is there, redirects being behind it; whether it is a good one is another matter.
        case response(ResponseHead)
        /// More of the body is there, at most one event for each 64 KiB.
        case progress(DownloadProgress)
        /// It failed and will be tried again after the delay.
        case retrying(after: Duration, because: ImageError)
        /// It has ended: all tries have failed, the last one with this error, nobody wanted it any longer
        /// (`CancellationError`), or, with nil, all has come.
        case stopped((any Error)?)
        /// The whole body has come, so many bytes.
        case finished(byteCount: Int, metrics: TransferMetrics)
    }

    /// Which download: numbers are given from 1 on, and never again by the same loader.
    public let id: UInt64
    /// What was asked for.
    public let url: HTTPURL
    /// When it happened.
    public let time: ContinuousClock.Instant
    /// What happened.
    public let kind: Kind
}
