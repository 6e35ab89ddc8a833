// Which downloads may wait, and how long.
extension DownloadMachine {
    /// Fails a download that has been enqueued for its first slot or its lookup, if it cannot start now, and too many wait.
    ///
    /// Only downloads of the same or a higher priority count, so that those of lower priorities keep no others out.
    mutating func refuseIfTooManyWait(_ id: ID) {
        guard let limit = configuration.maximumWaitingDownloads.map({ max(1, $0) }),
            let priority = downloads[id: id]?.callers.priority, waitingCount(from: priority) > limit
        else { return }
        // Those that can start were only requested in the same turn.
        startNext()
        guard waitingCount(from: priority) > limit, let download = downloads[id: id],
            case .queued = download.phase, !parked.contains(id)
        else { return }
        fail(id, overload(of: download), holdsSlot: false)
    }

    private func waitingCount(from lowest: DownloadPriority) -> Int {
        DownloadPriority.descending.reduce(0) { sum, priority in
            guard priority >= lowest else { return sum }
            return sum + queue.waitingCounts[priority.rawValue] + (lookups?.waitingCounts[priority.rawValue] ?? 0)
        }
    }

    // MARK: Time

    /// Starts the wait of a download for its first slot.
    mutating func startWait(of id: ID) {
        guard let index = downloads.index(of: id) else { return }
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
        guard let start = download.waitsSince, let limit = configuration.maximumQueueTime else { return nil }
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
