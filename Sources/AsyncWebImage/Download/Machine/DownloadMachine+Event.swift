import HTTPTransport
import ResponseCache

extension DownloadMachine {
    /// Something that has happened.
    enum Event {
        // Callers.

        /// A caller that has not cancelled wants something.
        case join(Subscriber)
        /// The download that a caller was attached to has dropped the beginning of its body, or has been delivered already.
        case refused(Attachment)
        /// A caller has cancelled.
        case leave(Subscriber.ID)
        /// A caller wants its download sooner or later than before.
        case prioritize(Subscriber.ID, DownloadPriority)
        /// A caller wants to see the progress of its download.
        case watch(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)
        /// A caller has left a stream of the progress.
        case stopWatching(Subscriber.ID, AsyncStream<DownloadProgress>.Continuation)

        // Downloads.

        /// The response cache cannot answer without the network, and has decided what is to be asked.
        indirect case notServed(ID, CacheDecision)
        /// A transfer has ended, over the network or from the response cache.
        case transferEnded(ID, TransferEnd)
        /// A decode has ended; one that was cancelled ends as well.
        case decodeEnded(DecodeID, isSuccess: Bool)
        /// The attempt that has just failed can be continued.
        indirect case resumable(ID, Resumption)
        /// A body that was given up can be continued by the next request.
        indirect case keep(Resumption, for: FetchKey)

        // Time and memory.

        /// The delay after a failure is over.
        case backoffElapsed(ID)
        /// The time of some download may be up.
        case deadlinePassed
        /// Whether there is memory for the bodies of further downloads.
        case memory(hasRoom: Bool)
        /// All that has happened has been told: what may start does.
        case schedule(hasMemory: Bool)

        // Control.

        case suspend
        case resume
        case cancelAll
        indirect case configure(DownloadConfiguration)
        /// Nothing new begins; downloads that may finish have this much time.
        case shutDown(gracePeriod: Duration)
        case gracePeriodEnded
    }

    /// How a transfer ended.
    enum TransferEnd {
        /// The whole body is there.
        case complete
        /// The server was asked to continue a body and sent something else.
        case notContinued
        indirect case failed(ImageError)
        /// It was given up.
        case cancelled
    }
}
