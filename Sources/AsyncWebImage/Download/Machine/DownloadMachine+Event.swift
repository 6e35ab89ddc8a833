import HTTPTransport
import ResponseCache

extension DownloadMachine {
    /// An event to handle.
    enum Event: Sendable {
        // Callers.

        /// A caller that has not canceled makes a request.
        case join(Subscriber)
        /// Callers that have shared a decode expect another body; `isStored` indicates whether that body was a stored
        /// one, so that the origin may have another.
        case mismatched([Mismatch], isStored: Bool)
        /// A stale response has been served: the stored one is brought up to date for no caller in particular.
        case refresh(Subscriber)
        /// A caller could not be attached to a download, which has discarded the beginning of its body, or has been
        /// delivered already.
        indirect case refused(Attachment)
        /// A caller has canceled.
        case leave(Subscriber.ID)
        /// The time within which a caller must have its result has passed.
        case callerTimedOut(Subscriber.ID)
        /// The complete response to a request is wanted anew: its partial bodies are dropped.
        indirect case forget(FetchKey)
        /// A caller changes the priority of its download.
        case prioritize(Subscriber.ID, DownloadPriority)

        // Downloads.

        /// The response cache has decided about the request.
        indirect case decided(ID, CacheDecision)
        /// A transfer has ended, over the network or from the response cache; `peer` is the origin that has responded,
        /// if it is known.
        case transferEnded(ID, TransferEnd, peer: Peer? = nil)
        /// A decode has ended, possibly because it was canceled.
        case decodeEnded(DecodeID, isSuccess: Bool)
        /// The failed attempt can be continued.
        indirect case resumable(ID, Resumption)
        /// An abandoned body can be continued by the next request.
        indirect case keep(Resumption, for: FetchKey)

        // Time and memory.

        /// The delay after a failure has passed.
        case backoffElapsed(ID)
        /// An element of a load group takes, waits for, or gives up its slot.
        case slot(LoadGroup.Signal)
        /// The time limit of a download might have expired.
        case deadlinePassed
        /// The availability of memory for the bodies of further downloads has changed.
        case memory(hasCapacity: Bool)
        /// All pending events have been handled; the downloads that may start now are started.
        case schedule(hasMemory: Bool)

        // Control.

        case suspend
        case resume
        case cancelAll
        indirect case configure(DownloadConfiguration)
        /// The loader shuts down; downloads that may finish, possibly including those that wait, have this much time.
        case shutDown(gracePeriod: Duration, startsWaiting: Bool = true)
        case gracePeriodEnded
    }

    /// A caller that expects another body, and its error if it cannot get one.
    struct Mismatch: Sendable {
        let caller: Subscriber
        let error: ImageError
    }

    /// The origin that has responded to a request.
    struct Peer: Sendable {
        let host: String
        /// A Boolean value that indicates whether responses share a connection, as in HTTP/2.
        let isMultiplexed: Bool
    }

    /// The outcome of a transfer.
    enum TransferEnd: Sendable {
        /// The whole body was received.
        case complete
        /// The server did not continue a body and sent something else.
        case notContinued
        indirect case failed(ImageError)
        /// A stored failure was served: the origin has said that asking again is of no use for now.
        indirect case remembered(ImageError)
        /// It was canceled.
        case cancelled
    }
}
