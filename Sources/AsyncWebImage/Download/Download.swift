import HTTPTransport

/// What the coordinator knows of one download.
///
/// Belongs to the coordinator; there is one for each key at most that callers can join.
final class Download {
    typealias ID = DownloadQueue.ID

    enum State {
        /// In the queue.
        case waiting
        /// In the hands of the transport, or about to be.
        case running
        /// The body is complete; decodes may still be under way.
        case received(ResponseHead, TransferMetrics)
        /// Nobody waits for it any more; it only has to end.
        case abandoned
    }

    /// A decode that is under way.
    struct Decode {
        let task: Task<Void, Never>
        let frames: FrameHub
        let reader: BodyReader
    }

    let id: ID
    let key: FetchKey
    let log: BodyLog
    var state = State.waiting
    var transfer: (any Transfer)?
    var subscribers: [Subscriber.ID: Subscriber] = [:]
    var decodes: [Variant: Decode] = [:]
    /// Bytes of the complete body that are kept for decodes under way.
    var undecodedBytes = 0

    init(id: ID, key: FetchKey, replayLimit: Int) {
        self.id = id
        self.key = key
        log = BodyLog(replayLimit: replayLimit)
    }

    /// The highest priority of those who wait.
    var priority: DownloadPriority { subscribers.values.map(\.priority).max() ?? .low }

    /// Takes out those who wait for `variant`.
    func removeSubscribers(of variant: Variant?) -> [Subscriber] {
        let leaving = subscribers.values.filter { $0.variant == variant }
        for subscriber in leaving { subscribers[subscriber.id] = nil }
        return leaving
    }
}
