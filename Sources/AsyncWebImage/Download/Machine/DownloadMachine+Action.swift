import ResponseCache

extension DownloadMachine {
    /// An action to perform.
    ///
    /// Large and rare payloads are indirect, so that the others stay small.
    enum Action {
        // Downloads.

        /// Creates a download with its first caller.
        case open(ID, Subscriber, decode: DecodeID?)
        /// Asks the response cache, which might answer; `timeLimit` is the remaining time of the download.
        case decide(ID, timeLimit: Duration?)
        /// Sends a request; if there is a response cache, it is asked first.
        case transfer(ID, Attempt)
        /// Serves the response that the response cache has, or sends the request, about which it is asked again unless it has
        /// nothing; reply with `refresh` if the response is stale.
        indirect case perform(ID, Attempt, CacheDecision)
        /// Sends a request for the remainder of a body.
        indirect case resume(ID, Attempt, from: Resumption)
        /// Waits before the next attempt; reply with `resumable` if that can continue this one.
        indirect case backOff(ID, until: Instant, delay: Duration, because: ImageError)
        /// Completes the body: callers that wait only for the bytes are answered.
        case receive(ID)
        /// Fails the body: callers that wait only for the bytes get the error, and decodes fail when they read it.
        ///
        /// With `keepsBeginning`, reply with `keep` if the next request can continue the received part.
        indirect case fail(ID, ImageError, keepsBeginning: Bool)
        /// Stops a download without callers in any phase; no more events follow.
        case close(ID, isOver: Bool, keepsBeginning: Bool)

        // Callers.

        /// Attaches a caller to a download; reply with `refused` if that is impossible.
        case attach(Attachment)
        /// A caller has left.
        case detach(Subscriber, from: ID, decode: DecodeID?)
        /// Fails a caller.
        case answer(Subscriber, any Error)
        /// Delivers the result of a decode to its callers; reply with `mismatched` if some expect another body.
        case deliver(DecodeID, to: [Subscriber], from: ID)
        case cancelDecode(DecodeID)

        // The loader.

        /// Lets work continue that has waited for its slot.
        case grant(OneShot<Void>)
        /// Tells a load group whether another element could become active, considering elements that have not been
        /// considered before.
        case announceRoom(LoadGroup, Bool, considering: Int)
        /// Sets an alarm, replacing its earlier time.
        case setAlarm(AlarmKind, Instant)
        /// Applies a changed configuration.
        indirect case configure(DownloadConfiguration)
        /// Begins the shutdown: nothing new begins from now on.
        case beginShutdown
        /// Completes the shutdown, because there is no activity anymore.
        case finishShutdown
        /// Logs an unexpected event.
        case report(UnexpectedEvent)
    }

    /// The attachment of a caller to a download that others have requested.
    struct Attachment: Sendable {
        let caller: Subscriber
        let download: ID
        /// The decode that it shares or starts; `nil` for only the bytes.
        var decode: DecodeID?
        /// A Boolean value that indicates whether the decode must be started for this caller.
        var startsDecode = false
        /// A Boolean value that indicates whether callers are answered as soon as the body is complete, so that it
        /// can be joined only before.
        var isBeforeEnd = false
    }

    /// The kinds of alarms.
    enum AlarmKind: Hashable, CaseIterable {
        /// A host's rate allows its next download to start.
        case rate
        /// The time limit of a download might have expired.
        case deadline
        /// The grace period of a shutdown has ended.
        case gracePeriod
    }
}
