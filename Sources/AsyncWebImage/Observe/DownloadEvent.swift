public import HTTPTransport

/// An event of a download.
///
/// The events of each download are, in this order: `queued`; for every attempt `started`, `response` if one is
/// received, and any number of `progress`; `retrying` before an attempt that follows a failure; and always one
/// `completed`. A download that is canceled before it starts has only `queued` and `completed`. If a server cannot
/// continue a partial body, the loader requests the whole body immediately, and sends `started` again without
/// `retrying`, because nothing has failed.
public struct DownloadEvent: Sendable {
    /// A kind of event.
    public enum Kind: Sendable {
        /// The download was requested and waits for a slot, possibly for only a moment.
        case queued(DownloadPriority)
        /// An attempt began; `attempt` is 1 for the first. A ``ResponseCache`` may answer it without a request to the
        /// server.
        case started(attempt: Int)
        /// The head of the final response was received, after redirects. Its status has not been validated yet.
        case response(ResponseHead)
        /// More of the body was received; at most one event per 64 KiB.
        case progress(DownloadProgress)
        /// An attempt failed, and another follows after the delay.
        case retrying(after: Duration, because: ImageError)
        /// The download ended: with the whole body, with the error of the last attempt, or with `CancellationError` if
        /// it was stopped because all callers canceled or the loader was shut down.
        case completed(Result<Summary, any Error>)
    }

    /// The summary of a download whose body was received completely.
    public struct Summary: Sendable {
        /// The size of the body in bytes.
        public let byteCount: Int
        /// The durations and sizes of the last transfer.
        public let metrics: TransferMetrics
    }

    /// The number of the download, from 1; never reused by the same loader.
    public let id: UInt64
    /// The requested URL.
    public let url: HTTPURL
    /// The time of the event.
    public let time: ContinuousClock.Instant
    /// The kind of the event.
    public let kind: Kind
}
