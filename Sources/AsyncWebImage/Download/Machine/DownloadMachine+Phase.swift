import HTTPTransport
import ResponseCache

extension DownloadMachine {
    /// The phase of a download.
    ///
    /// Large and rare payloads are indirect, so that the others stay small.
    enum Phase {
        /// The download waits in a queue, or for the slot of an element of a load group.
        case queued(Step)
        /// The response cache is being searched, or is delivering a response.
        case deciding
        case transferring(Attempt)
        /// An attempt has failed; the next one, which might continue it, waits for its time.
        indirect case backingOff(until: Instant, Resumption?)
        /// The body is complete; decodes are active.
        case received
        /// The download has failed: a canceled transfer must end, and decodes must detect it.
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

    /// The step that a queued download waits for.
    enum Step {
        case lookup
        case attempt
        /// An attempt that follows a lookup in the response cache, which found no response to serve, in this turn.
        indirect case decided(CacheDecision, turn: UInt64)
        /// An attempt that might continue an earlier one.
        indirect case continuation(Resumption)
    }

    /// A request of a download.
    struct Attempt: Hashable {
        /// The number of the attempt, from 1.
        let number: Int
        /// The remaining time of the whole download; `nil` for no limit.
        let timeLimit: Duration?
    }

    /// The state of a download.
    struct State {
        let id: ID
        let key: FetchKey
        /// The position in line: the number of the first caller.
        let sequence: UInt64
        var phase: Phase
        var callers = CallerTable.Group()
        /// The decodes that its callers wait for.
        var decodes: [Variant: DecodeID] = [:]
        /// The number of requests so far, or one if it was answered without.
        var attempts = 0
        /// The number of failed attempts.
        ///
        /// An attempt that the server could not continue is not counted: the whole body is then requested
        /// immediately.
        var failures = 0
        /// A Boolean value that indicates whether the server did not continue a body, so that this is not tried
        /// again.
        var startsFromZero = false
        /// The remaining part of the time limit.
        var time: TimeAllowance
        /// The time since which the download waits for its first slot; `nil` if it does not, or no longer.
        var waitsSince: Instant?

        /// A Boolean value that indicates whether the download waits for the slot of its first attempt.
        var waitsForFirstSlot: Bool {
            guard attempts == 0, case .queued(let step) = phase else { return false }
            if case .lookup = step { return false }
            return true
        }

        /// A Boolean value that indicates whether the download waits for a slot or for its next attempt.
        var isWaiting: Bool {
            switch phase {
            case .queued, .backingOff: true
            case .deciding, .transferring, .received, .draining: false
            }
        }
    }

    /// An active decode.
    struct Decode {
        let download: ID
        let variant: Variant
        /// The number of callers that wait for the decode; 0 after it is canceled.
        var callers = 1
    }
}
