import ResponseCache

/// A message to the coordinator, from any thread.
enum CoordinatorMessage: Sendable {
    /// A caller requests a result.
    case join(Subscriber)
    /// A caller has canceled; its reader holds the transfer back until the message has been handled.
    case leave(Subscriber.ID, keeping: BodyReader? = nil)
    /// A caller has changed its priority.
    case prioritize(Subscriber.ID, DownloadPriority)
    /// A caller observes the progress of its download.
    indirect case watch(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
    /// A caller has ended a stream of the progress.
    indirect case stopWatching(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
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
    /// An element of a load group takes, waits for, or gives up its slot.
    case slot(LoadGroup.Signal)
    /// The time limit of a download may have passed.
    case deadlinePassed
    /// The grace period of a shutdown has ended.
    case gracePeriodEnded

    /// A Boolean value that indicates whether handling the message takes time in proportion to the number of all
    /// downloads.
    var concernsAllDownloads: Bool {
        switch self {
        case .deadlinePassed, .gracePeriodEnded: true
        case .join, .leave, .prioritize, .watch, .stopWatching, .decided, .transferEnded, .memoryFreed,
            .rateAllowsStart, .backoffElapsed, .slot:
            false
        }
    }
}
