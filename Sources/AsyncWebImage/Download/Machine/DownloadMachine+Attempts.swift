import HTTPSemantics
import HTTPTransport
import ResponseCache

// A download waits for a slot, asks the cache, and makes attempts until one succeeds or there is no other.
extension DownloadMachine {
    /// Enqueues a new download, or starts it immediately if it would be the next one.
    mutating func begin(_ id: ID, _ caller: Subscriber) {
        let host = caller.key.limitedHost
        if lookups != nil, configuration.requestModifier == nil, caller.key.mayBeServed {
            if let index = downloads.index(of: id) { downloads.states[index].phase = .queued(.lookup) }
            if mayStart, lookups?.admit(id, host: host, priority: caller.priority) == true {
                decide(id)
            } else {
                lookups?.enqueue(id, host: host, priority: caller.priority, sequence: caller.id)
                refuseIfTooManyWait(id)
            }
        } else if mayStart, queue.admit(id, host: host, priority: caller.priority) {
            // The overload is over.
            latestWait = .zero
            start(id)
        } else {
            startWait(of: id)
            queue.enqueue(id, host: host, priority: caller.priority, sequence: caller.id)
            refuseIfTooManyWait(id)
        }
    }

    /// Enqueues a download for its next attempt.
    private mutating func enqueue(_ id: ID, for step: Step = .attempt) {
        guard let index = downloads.index(of: id) else { return }
        downloads.states[index].phase = .queued(step)
        enqueue(downloads.states[index])
    }

    /// Adds a download to the queue, in its place by time of arrival.
    mutating func enqueue(_ download: State) {
        queue.enqueue(
            download.id, host: download.key.limitedHost, priority: download.callers.priority,
            sequence: download.sequence)
    }

    // MARK: The cache

    /// Asks the response cache, using the lookup slot that the download holds.
    mutating func decide(_ id: ID) {
        guard let index = downloads.index(of: id), case .queued(.lookup) = downloads.states[index].phase else {
            lookups?.release(id)
            return reject("decide", id)
        }
        downloads.states[index].phase = .deciding
        emit(.decide(id, timeLimit: startTime(of: id)))
    }

    /// Serves a response that needs no network; otherwise enqueues the download, which needs a slot, together with the
    /// decision.
    mutating func decided(_ id: ID, _ decision: CacheDecision) {
        guard let index = downloads.index(of: id) else { return reject("decided", id) }
        switch downloads.states[index].phase {
        case .deciding where decision.isLocal:
            emit(.perform(id, Attempt(number: 1, timeLimit: startTime(of: id)), decision))
        case .deciding:
            lookups?.release(id)
            pauseTime(of: id)
            startWait(of: id)
            enqueue(id, for: .decided(decision, turn: turn))
            refuseIfTooManyWait(id)
        case .draining(holdsSlot: true): releaseSlot(id)
        case .queued, .transferring, .backingOff, .received, .draining: reject("decided", id)
        }
    }

    // MARK: Attempts

    /// Starts an attempt, which continues an earlier one if possible; the slot of the queue is taken.
    ///
    /// Without a slot of its load group, the download gives it back, and waits for that outside of the queue.
    mutating func start(_ id: ID) {
        guard let index = downloads.index(of: id), case .queued(let step) = downloads.states[index].phase else {
            queue.release(id)
            return reject("start", id)
        }
        endWait(of: id)
        guard takeSlot(for: id) else {
            queue.release(id, wasStarted: false)
            return
        }
        downloads.states[index].attempts += 1
        let number = downloads.states[index].attempts
        let attempt = Attempt(number: number, timeLimit: startTime(of: id))
        downloads.states[index].phase = .transferring(attempt)
        if case .continuation(let resumption) = step, mayContinue(downloads.states[index]) {
            emit(.resume(id, attempt, from: resumption))
        } else if number == 1, !interrupted.isEmpty, mayContinue(downloads.states[index]),
            let resumption = interrupted.take(downloads.states[index].key)
        {
            // The cache has decided about a request without a range.
            emit(.resume(id, attempt, from: resumption))
        } else if case .decided(let decision, let turn) = step {
            // Other processes may have stored the response while the download has waited.
            emit(.perform(id, attempt, turn == self.turn ? decision : .undecided))
        } else {
            emit(.transfer(id, attempt))
        }
    }

    /// Returns whether an attempt may continue another body.
    private func mayContinue(_ download: State) -> Bool {
        configuration.bodyTransform == nil && !download.startsFromZero
    }

    mutating func transferEnded(_ id: ID, _ end: TransferEnd) {
        guard let index = downloads.index(of: id) else { return reject("transferEnded", id) }
        switch downloads.states[index].phase {
        case .draining(holdsSlot: true): return releaseSlot(id)
        // It counts as the first attempt.
        case .deciding: downloads.states[index].attempts = 1
        case .transferring: break
        case .queued, .backingOff, .received, .draining: return reject("transferEnded", id)
        }
        endTransfer(id)
        switch end {
        case .complete: receive(id)
        case .notContinued:
            downloads.states[index].startsFromZero = true
            enqueue(id)
        case .failed(let error): retry(id, after: error)
        case .remembered(let error): fail(id, error, holdsSlot: false)
        case .cancelled:
            reject("transferEnded", id)
            let url = downloads.states[index].key.url.string
            fail(id, .transport(TransportError(url: url, reason: .cancelled)), holdsSlot: false)
        }
    }

    /// Schedules a retry after a delay, without a slot, or ends the download if there is no other attempt.
    private mutating func retry(_ id: ID, after error: ImageError) {
        guard let index = downloads.index(of: id) else { return }
        downloads.states[index].failures += 1
        let policy: (any RetryPolicy)? = downloads.states[index].key.transfer?.retry ?? configuration.retry
        guard error.isRetryable,
            let delay = policy?.delay(after: error, attempts: downloads.states[index].failures)
        else { return fail(id, error, holdsSlot: false) }
        guard hasTime(downloads.states[index], after: delay) else {
            return fail(id, timeout(of: downloads.states[index], because: error), holdsSlot: false)
        }
        giveBackSlots(of: downloads.states[index].callers)
        let end = now.advanced(by: min(delay, Stopwatch.longest))
        downloads.states[index].phase = .backingOff(until: end, nil)
        emit(.backOff(id, until: end, delay: delay, because: error))
    }

    mutating func resumable(_ id: ID, _ resumption: Resumption) {
        guard let index = downloads.index(of: id) else { return reject("resumable", id) }
        switch downloads.states[index].phase {
        case .backingOff(let end, nil): downloads.states[index].phase = .backingOff(until: end, resumption)
        case .queued, .deciding, .transferring, .backingOff, .received, .draining: reject("resumable", id)
        }
    }

    mutating func backoffElapsed(_ id: ID) {
        // It may have ended in the meantime.
        guard let index = downloads.index(of: id) else { return }
        switch downloads.states[index].phase {
        case .backingOff(_, let resumption): enqueue(id, for: resumption.map { .continuation($0) } ?? .attempt)
        case .draining: break
        case .queued, .deciding, .transferring, .received: reject("backoffElapsed", id)
        }
    }
}

extension FetchKey {
    /// A Boolean value that indicates whether a stored response might answer a request with this key without the
    /// network.
    fileprivate var mayBeServed: Bool {
        guard usesResponseCache else { return false }
        return switch cachePolicy {
        case .cacheOnly: true
        case .useProtocol, .cacheElseLoad: !isConditional && !handlesCookies
        case .reload, .revalidate, .noStore: false
        }
    }
}
