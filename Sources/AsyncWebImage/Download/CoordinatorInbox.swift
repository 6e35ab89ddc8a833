import Threading
import ResponseCache

/// What others tell the coordinator, in the order in which they do.
///
/// Telling is synchronous and costs little more than the lock. However much has come, it is read in one turn of the
/// actor: ten thousand callers at once, or a hundred transfers that end together, make one job and not as many.
struct CoordinatorInbox: Sendable {
    enum Message: Sendable {
        /// A caller wants something.
        case join(Subscriber)
        /// A caller has cancelled; what it was reading holds the transfer back until the message has been handled.
        case leave(Subscriber.ID, keeping: BodyReader? = nil)
        /// A caller wants its download sooner or later than before.
        case prioritize(Subscriber.ID, DownloadPriority)
        /// A caller wants to see how its download gets on.
        case watch(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
        /// A caller has left a stream of the progress.
        case stopWatching(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
        /// The response cache has decided what is to be done about a download, which has so much time left.
        indirect case decided(Download.ID, CacheDecision, timeLimit: Duration?)
        /// A transfer has ended; how, its receiver tells.
        case transferEnded(Download.ID)
        /// There is memory again: downloads that wait may start, and bodies that wait may grow.
        case memoryFreed
        /// A host's rate lets its next download start.
        case rateAllowsStart
        /// A download that failed has waited long enough to be tried again.
        case backoffElapsed(Download.ID)
        /// The time of a download may be up.
        case deadlinePassed
        /// What is shut down has had its time to finish.
        case gracePeriodEnded
    }

    private let messages = Locked<[Message]>([])

    /// Adds a message; true if there was none, so that somebody has to see to it that it is read.
    func append(_ message: Message) -> Bool {
        messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
    }

    /// Moves all messages to `batch`, which is empty: the two change places, so that neither has to grow again.
    func take(into batch: inout [Message]) {
        messages.withLock { messages in swap(&messages, &batch) }
    }
}
