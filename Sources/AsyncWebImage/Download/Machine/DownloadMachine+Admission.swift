// Which downloads may wait, and how long.
extension DownloadMachine {
    /// Fails a download that has been enqueued for its first slot or its lookup, if it cannot start now, and too many wait.
    ///
    /// Only downloads of the same or a higher priority count, so that those of lower priorities keep no others out.
    /// Those whose callers are limited elsewhere are neither counted nor refused.
    mutating func refuseIfTooManyWait(_ id: ID) {
        guard let limit = waitingLimit, let index = downloads.index(of: id),
            !downloads.states[index].callers.isLimitedElsewhere
        else { return }
        let priority = downloads.states[index].callers.priority
        guard hasWaiting(limit + 1, from: priority) else { return }
        // Those that can start were only requested in the same turn.
        startNext()
        guard hasWaiting(limit + 1, from: priority), let download = downloads[id: id],
            case .queued = download.phase, !parked.contains(id)
        else { return }
        fail(id, overload(of: download), holdsSlot: false)
    }

    /// Returns whether a new download of a priority would be refused if it had to wait.
    func refusesToWait(_ priority: DownloadPriority) -> Bool {
        waitingLimit.map { hasWaiting($0, from: priority) } ?? false
    }

    private var waitingLimit: Int? { configuration.maximumWaitingDownloads.map { min(max(1, $0), Int.max - 1) } }

    /// Returns whether as many downloads of a priority or a higher one wait, not counting those whose callers are
    /// limited elsewhere.
    private func hasWaiting(_ limit: Int, from lowest: DownloadPriority) -> Bool {
        let count = DownloadPriority.descending.reduce(0) { sum, priority in
            guard priority >= lowest else { return sum }
            return sum + queue.waitingCounts[priority.rawValue] + (lookups?.waitingCounts[priority.rawValue] ?? 0)
        }
        // Usually not, so that the downloads need not be visited.
        guard count >= limit else { return false }
        var exempt = 0
        for index in downloads.states.indices {
            guard case .queued = downloads.states[index].phase, downloads.states[index].callers.isLimitedElsewhere,
                downloads.states[index].callers.priority >= lowest, !parked.contains(downloads.states[index].id)
            else { continue }
            exempt += 1
        }
        return count - exempt >= limit
    }

    // MARK: Time

    /// Starts the wait of a download for its first slot, unless its callers are limited elsewhere.
    mutating func startWait(of id: ID) {
        guard let index = downloads.index(of: id), !downloads.states[index].callers.isLimitedElsewhere else { return }
        downloads.states[index].waitsSince = now
        if let end = waitEnd(of: downloads.states[index]) { expectDeadline(at: end) }
    }

    mutating func endWait(of id: ID) {
        guard let index = downloads.index(of: id), let start = downloads.states[index].waitsSince.take() else { return }
        latestWait = start.duration(to: now)
    }

    /// Returns the time when a download has waited too long; `nil` for never.
    ///
    /// Rounded up, so that the times of many downloads coincide: all of them are checked at each.
    func waitEnd(of download: State) -> Instant? {
        guard let start = download.waitsSince, let limit = configuration.maximumQueueTime,
            !download.callers.isLimitedElsewhere
        else { return nil }
        let step = min(max(limit / 64, .milliseconds(1)), Stopwatch.longest)
        let end = start.elapsed + min(max(.zero, limit), Stopwatch.longest)
        return Instant(elapsed: step * (end / step).rounded(.up))
    }

    /// Returns the error of a download that may not wait, or no longer.
    func overload(of download: State) -> ImageError {
        let wait = max(latestWait, download.waitsSince.map { $0.duration(to: now) } ?? .zero)
        let seconds = min(max(1, (wait / .seconds(1)).rounded(.up)), 60)
        return .overloaded(retryAfter: .seconds(Int(seconds)), url: download.key.url.string)
    }
}
