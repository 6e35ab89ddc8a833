import ResponseCache

/// A message to the coordinator, from any thread.
enum CoordinatorMessage: Sendable {
    /// A caller requests a result.
    case join(Subscriber)
    /// A caller has canceled; its reader holds the transfer back until the message has been handled.
    case leave(Subscriber.ID, keeping: BodyReader? = nil)
    /// A caller observes the progress of its download.
    indirect case watch(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
    /// A caller has ended a stream of the progress.
    indirect case stopWatching(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
    /// The response cache has been asked for a file; `nil` if there is none that may be used.
    indirect case fileLookedUp(FileKey, StoredResult?)
    /// A transfer has ended; its receiver has the result.
    case transferEnded(Download.ID)
    /// Memory is available again: waiting downloads may start, and waiting bodies may grow.
    case memoryFreed
    /// The rate limit of a host allows its next download.
    case rateAllowsStart
    /// Something has happened that only the machine has to handle.
    case event(DownloadMachine.Event)

    /// A Boolean value that indicates whether handling the message takes time in proportion to the number of all
    /// downloads.
    var concernsAllDownloads: Bool {
        switch self {
        case .event(.deadlinePassed), .event(.gracePeriodEnded): true
        case .join, .leave, .watch, .stopWatching, .fileLookedUp: false
        case .transferEnded, .memoryFreed, .rateAllowsStart, .event: false
        }
    }
}
