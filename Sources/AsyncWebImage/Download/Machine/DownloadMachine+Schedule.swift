import HTTPTransport

// Starting downloads, subject to slots, rates, memory, and time limits.
extension DownloadMachine {
    /// Starts the downloads that may run now, and checks whether a shutdown is complete.
    mutating func schedule(hasMemory: Bool) {
        self.hasMemory = hasMemory
        startNext()
        turn += 1
        finishShutdownIfIdle()
    }

    /// A Boolean value that indicates whether there is memory for the next download.
    ///
    /// If nothing runs and nothing is decoded, no memory would be released, so one download may always start. Those
    /// that back off release none either: at the earliest, their next attempt does.
    var mayStart: Bool {
        // Mutating, and without operators, whose closures would copy the machine: it is accessed in place.
        mutating get {
            if hasMemory { return true }
            guard runningCount == 0 else { return false }
            return waitingCount + backingOffCount == downloads.count
        }
    }

    mutating func startNext() {
        while mayStart, let id = lookups?.next() { decide(id) }
        let hasRate = queue.rateLimit != nil
        if hasRate { queue.advance(to: now.elapsed) }
        repeat {
            while mayStart, let id = queue.next() { start(id) }
        } while mayStart && admitWaiter()
        if hasRate, let next = queue.nextStart { emit(.setAlarm(.rate, Instant(elapsed: next))) }
        announceRoom()
    }

    // MARK: The time of a download

    /// Starts the time limit of a download and its supervision; returns the remaining time, or `nil` without a limit.
    mutating func startTime(of id: ID) -> Duration? {
        guard let index = downloads.index(of: id) else { return nil }
        let now = now
        downloads.states[index].time.start(at: now)
        if let end = downloads.states[index].time.end { expectDeadline(at: end) }
        return downloads.states[index].time.left(at: now).map { max(.zero, $0) }
    }

    /// Pauses the time limit of a download that waits for its first slot.
    mutating func pauseTime(of id: ID) {
        let now = now
        if let index = downloads.index(of: id) { downloads.states[index].time.pause(at: now) }
    }

    /// Returns whether a download has time for another attempt after a delay.
    func hasTime(_ download: State, after delay: Duration) -> Bool {
        download.time.left(at: now).map { delay < $0 } ?? true
    }

    /// Returns the error of a download without remaining time; `cause` is the error of its last attempt.
    func timeout(of download: State, because cause: ImageError? = nil) -> ImageError {
        .transport(
            TransportError(url: download.key.url.string, reason: .timedOut(.total), detail: cause?.description))
    }

    /// Ends the downloads whose time limit has expired, without waiting for their transfers, which can hang in a
    /// hook.
    mutating func endOverdue() {
        nextDeadline = nil
        for id in downloads.ids {
            guard let download = downloads[id: id] else { continue }
            if case .queued = download.phase, let end = waitEnd(of: download) {
                if end <= now { fail(id, overload(of: download), holdsSlot: false) } else { expectDeadline(at: end) }
                continue
            }
            guard let end = download.time.end else { continue }
            let holdsSlot: Bool
            switch download.phase {
            case .queued, .backingOff: holdsSlot = false
            case .deciding, .transferring: holdsSlot = true
            case .received, .draining: continue
            }
            if end <= now { fail(id, timeout(of: download), holdsSlot: holdsSlot) } else { expectDeadline(at: end) }
        }
    }

    mutating func expectDeadline(at end: Instant) {
        if let nextDeadline, nextDeadline <= end { return }
        nextDeadline = end
        emit(.setAlarm(.deadline, end))
    }
}
