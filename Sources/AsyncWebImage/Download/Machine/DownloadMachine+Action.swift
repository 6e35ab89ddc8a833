import ResponseCache

extension DownloadMachine {
    /// Something that has to be done.
    ///
    /// What is large and rare is indirect, so that the others stay small.
    enum Action {
        // Downloads.

        /// A download begins, with its first caller.
        case open(ID, Subscriber, decode: DecodeID?)
        /// Asks the response cache, which may answer; `timeLimit` is what is left for the download.
        case decide(ID, timeLimit: Duration?)
        /// Sends a request; if there is a response cache, it is asked before.
        case transfer(ID, Attempt)
        /// Sends the request that the response cache has decided on.
        indirect case carryOut(ID, Attempt, CacheDecision)
        /// Sends a request for the remainder of a body.
        indirect case resume(ID, Attempt, from: Resumption)
        /// Waits before the next attempt; to be answered by `resumable` if that can go on where this one broke off.
        indirect case backOff(ID, until: Instant, delay: Duration, because: ImageError)
        /// The body is complete: callers that wait for the bytes alone are answered.
        case receive(ID)
        /// There will be no (whole) body: callers that wait for the bytes alone get the error, decodes fail by themselves.
        ///
        /// With `keepsBeginning`, to be answered by `keep` if the next request can go on from what has come.
        indirect case fail(ID, ImageError, keepsBeginning: Bool)
        /// Nobody waits for the download any more: it ends wherever it is, and is not heard of again.
        case close(ID, isOver: Bool, keepsBeginning: Bool)

        // Callers.

        /// A caller joins a download; to be answered by `refused` if it cannot.
        case attach(Attachment)
        /// A caller has left.
        case detach(Subscriber, from: ID, decode: DecodeID?)
        /// A caller is told that there is nothing for it.
        case answer(Subscriber, any Error)
        /// The result of a decode is handed to its callers.
        case deliver(DecodeID, to: [Subscriber], from: ID)
        case cancelDecode(DecodeID)
        case watch(Subscriber.ID, of: ID?, AsyncStream<DownloadProgress>.Continuation)
        case stopWatching(Subscriber.ID, of: ID, AsyncStream<DownloadProgress>.Continuation)

        // The loader.

        /// Sets an alarm, in place of its earlier time.
        case setAlarm(AlarmKind, Instant)
        /// The configuration has changed.
        indirect case configure(DownloadConfiguration)
        /// Nothing new begins from now on.
        case beginShutdown
        /// Nothing is going on any more.
        case finishShutdown
        /// Logs an event that cannot happen.
        case report(UnexpectedEvent)
    }

    /// How a caller joins a download that others have asked for.
    struct Attachment {
        let caller: Subscriber
        let download: ID
        /// The decode that it shares or begins; nil if it waits for the bytes alone.
        var decode: DecodeID?
        /// Whether the decode begins with this caller.
        var startsDecode = false
        /// Whether others are answered as soon as the body is complete, so that it can be joined only before.
        var isBeforeEnd = false
    }

    /// What an alarm reminds of.
    enum AlarmKind: Hashable, CaseIterable {
        /// The rate of a host lets its next download start.
        case rate
        /// The time of a download may be up.
        case deadline
        /// The grace period of a shutdown is over.
        case gracePeriod
    }
}
