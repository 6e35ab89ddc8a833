import HTTPTransport
import ResponseCache

extension DownloadMachine {
    /// Where a download is.
    ///
    /// What is large and rare is indirect, so that the others stay small.
    enum Phase {
        /// In a queue.
        case queued(Step)
        /// The response cache is asked, or answers.
        case deciding
        case transferring(Attempt)
        /// An attempt has failed; the next, which may continue it, waits for its time.
        indirect case backingOff(until: Instant, Resumption?)
        /// The body is complete; decodes are under way.
        case received
        /// There will be no (whole) body: a cancelled transfer has to end, and decodes have to notice.
        case draining(holdsSlot: Bool)

        var name: StaticString {
            switch self {
            case .queued: "queued"
            case .deciding: "deciding"
            case .transferring: "transferring"
            case .backingOff: "backing off"
            case .received: "received"
            case .draining: "draining"
            }
        }
    }

    /// What a download in a queue waits for.
    enum Step {
        case lookUp
        case attempt
        /// An attempt that the response cache has decided about.
        indirect case decided(CacheDecision)
        /// An attempt that may go on where an earlier one broke off.
        indirect case continuation(Resumption)
    }

    /// One request of a download.
    struct Attempt: Hashable {
        /// 1 for the first.
        let number: Int
        /// The time that is left for the whole download; nil if it is not limited.
        let timeLimit: Duration?
    }

    /// One download.
    struct State {
        let id: ID
        let key: FetchKey
        /// Its place in line: the number of the caller that came first.
        let sequence: UInt64
        var phase: Phase
        var callers = CallerTable.Group()
        /// The decodes that its callers wait for.
        var decodes: [Variant: DecodeID] = [:]
        /// Requests so far, or one if it was answered without.
        var attempts = 0
        /// Attempts that have failed.
        ///
        /// One that the server could not continue is none of them: everything is asked for at once then.
        var failures = 0
        /// Whether the server has sent something else when it was asked to continue, so that it is not asked again.
        var startsFromZero = false
        /// The time left of the limit for the whole download.
        var time: TimeAllowance
    }

    /// One decode that runs.
    struct Decode {
        let download: ID
        let variant: Variant
        /// The number of callers that wait for it; none once it is cancelled.
        var callers = 1
    }
}
