import HTTPTransport
import ImageCodecs

/// What the coordinator knows of one download.
///
/// Belongs to the coordinator; there is one for each key at most that callers can join.
final class Download {
    typealias ID = DownloadQueue.ID

    enum State {
        /// In a queue.
        case waiting
        /// Looked for in the response cache, or served from there.
        case lookingUp(LookUpResult)
        /// In the hands of the transport, or about to be.
        case running
        /// An attempt has failed; the next waits for its time.
        case resting
        /// The body is complete; decodes may still be under way.
        case received
        /// Nobody waits for it any more; it only has to end.
        case abandoned
    }

    /// A decode that is under way.
    struct Decode {
        let task: Task<Void, Never>
        let frames: FrameHub<ImageFrame>
        /// Of an animation.
        let animations: FrameHub<AnimatedImage>?
        let reader: BodyReader
    }

    let id: ID
    let key: FetchKey
    let log: BodyLog
    var state = State.waiting
    var transfer: (any Transfer)?
    /// What takes the response of the attempt that runs, or ran last.
    var receiver: DownloadReceiver?
    /// Requests so far, or one if it was answered without.
    var attempts = 0
    /// Attempts that have failed.
    ///
    /// One by which the server could not go on is none of them: everything is asked for at once then.
    var failures = 0
    /// Whether a look-up has found nothing that is stored.
    var isMissing = false
    /// How the next attempt may go on where the last one broke off.
    var resumption: Resumption?
    /// Whether the server sent something else when it was asked to go on, so that it is not asked again.
    var startsFromZero = false
    /// The time left of the limit for the whole download.
    var time: TimeAllowance
    /// What ends the rest.
    var rest: Task<Void, Never>?
    let events: DownloadEventSender?
    #if Tracing
    var span: DownloadSpan?
    #endif
    /// Its place in line: the number of the caller who came first.
    let sequence: UInt64
    private(set) var subscribers: [Subscriber.ID: Subscriber] = [:]
    /// How many subscribers there are of each priority.
    private var priorities: [5 of Int] = [0, 0, 0, 0, 0]
    /// How many subscribers wait for each decode.
    private var variants: [Variant: Int] = [:]
    var decodes: [Variant: Decode] = [:]

    init(
        id: ID, key: FetchKey, sequence: UInt64, log: BodyLog, events: DownloadEventSender?, time: TimeAllowance
    ) {
        self.id = id
        self.key = key
        self.sequence = sequence
        self.log = log
        self.events = events
        self.time = time
    }

    /// The highest priority of those who wait.
    var priority: DownloadPriority {
        DownloadPriority.descending.first { priorities[$0.rawValue] > 0 } ?? .veryLow
    }

    /// Whether any of those who wait lets it finish when the loader is shut down.
    var finishesOnShutdown: Bool { subscribers.values.contains { $0.finishesOnShutdown } }

    func add(_ subscriber: Subscriber) {
        subscribers[subscriber.id] = subscriber
        count(subscriber, 1)
    }

    func remove(_ id: Subscriber.ID) -> Subscriber? {
        guard let subscriber = subscribers.removeValue(forKey: id) else { return nil }
        count(subscriber, -1)
        return subscriber
    }

    /// Takes out those who wait for `variant`, nil being the bytes alone.
    func removeSubscribers(of variant: Variant?) -> [Subscriber] {
        let leaving = subscribers.values.filter { $0.variant == variant }
        for subscriber in leaving { _ = remove(subscriber.id) }
        return leaving
    }

    func setPriority(_ priority: DownloadPriority, of id: Subscriber.ID) {
        guard var subscriber = remove(id) else { return }
        subscriber.priority = priority
        add(subscriber)
    }

    /// Whether anybody waits for the decode.
    func isWanted(_ variant: Variant) -> Bool { variants[variant] != nil }

    private func count(_ subscriber: Subscriber, _ change: Int) {
        priorities[subscriber.priority.rawValue] += change
        guard let variant = subscriber.variant else { return }
        let count = (variants[variant] ?? 0) + change
        variants[variant] = count > 0 ? count : nil
    }
}
