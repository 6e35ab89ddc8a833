import HTTPTransport

/// The resources of one download: its body, its transfer, and the listeners to its events.
///
/// Belongs to the coordinator. ``DownloadMachine`` has its phase and its callers.
final class Download {
    typealias ID = DownloadID

    let id: ID
    let key: FetchKey
    let log: BodyLog
    let events: DownloadEventSender?
    /// A Boolean value that indicates whether it was started to bring a stored response up to date.
    let isRefresh: Bool
    /// A Boolean value that indicates whether a refresh has replaced the stored response that it may be serving.
    var isOutdated = false
    #if Tracing
    var span: DownloadSpan?
    #endif
    var transfer: (any Transfer)?
    /// The receiver of the current or last attempt.
    var receiver: DownloadReceiver?
    /// The delay before the next attempt.
    var pause: Task<Void, Never>?

    init(id: ID, key: FetchKey, log: BodyLog, events: DownloadEventSender?, isRefresh: Bool) {
        self.isRefresh = isRefresh
        self.id = id
        self.key = key
        self.log = log
        self.events = events
    }
}
