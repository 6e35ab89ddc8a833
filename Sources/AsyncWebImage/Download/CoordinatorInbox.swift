import Threading
import ResponseCache

/// The messages to the coordinator, in the order in which they were posted.
///
/// Posting is synchronous and costs little more than the lock. One turn of the actor reads all messages: ten thousand
/// callers at once, or a hundred transfers that end together, cause one job.
struct CoordinatorInbox: Sendable {
    enum Message: Sendable {
        /// A caller requests a result.
        case join(Subscriber)
        /// A caller has canceled; its reader holds the transfer back until the message has been handled.
        case leave(Subscriber.ID, keeping: BodyReader? = nil)
        /// A caller has changed its priority.
        case prioritize(Subscriber.ID, DownloadPriority)
        /// A caller observes the progress of its download.
        case watch(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
        /// A caller has ended a stream of the progress.
        case stopWatching(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
        /// The response cache has decided about a download; `timeLimit` is the time that remains.
        indirect case decided(Download.ID, CacheDecision, timeLimit: Duration?)
        /// A transfer has ended; its receiver has the result.
        case transferEnded(Download.ID)
        /// Memory is available again: waiting downloads may start, and waiting bodies may grow.
        case memoryFreed
        /// The rate limit of a host allows its next download.
        case rateAllowsStart
        /// The delay before the next attempt of a download has passed.
        case backoffElapsed(Download.ID)
        /// The time limit of a download may have passed.
        case deadlinePassed
        /// The grace period of a shutdown has ended.
        case gracePeriodEnded
    }

    private let messages = Locked<[Message]>([])

    /// Adds a message; returns `true` if the inbox was empty, so that the caller must start a turn.
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
