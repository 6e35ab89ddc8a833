import HTTPTransport

// A download has one time limit for everything: look-up, hooks, attempts, and the delays between them.
extension DownloadCoordinator {
    /// Lets the time of a download run, and sees to its end.
    ///
    /// Returns what is left for the next attempt; nil without a limit.
    func startTime(of download: Download) -> Duration? {
        let now = timeAlarm.now
        download.time.start(at: now)
        if let end = download.time.end { expectEnd(at: end) }
        return download.time.left(at: now).map { max(.zero, $0) }
    }

    /// Stops the time of a download that waits for its first slot.
    func pauseTime(of download: Download) {
        download.time.pause(at: timeAlarm.now)
    }

    /// Whether the download has time for another attempt after so long a delay.
    func hasTime(_ download: Download, after delay: Duration) -> Bool {
        download.time.left(at: timeAlarm.now).map { delay < $0 } ?? true
    }

    /// Ends the downloads whose time is up.
    func endOverdue() {
        let now = timeAlarm.now
        nextEndOfTime = nil
        for download in Array(downloads.values) where download.log.end == nil {
            guard let end = download.time.end else { continue }
            if end <= now { expire(download) } else { expectEnd(at: end) }
        }
    }

    /// The error of a download that has no time left; `cause` is how its last attempt failed.
    func timeout(of download: Download, because cause: ImageError? = nil) -> ImageError {
        .transport(
            TransportError(url: download.key.url.string, reason: .timedOut(.total), detail: cause?.description))
    }

    private func expectEnd(at end: Stopwatch.Instant) {
        if let nextEndOfTime, nextEndOfTime <= end { return }
        nextEndOfTime = end
        timeAlarm.set(end)
    }

    /// Ends a download wherever it is, without waiting for its transfer, which may hang in a hook.
    private func expire(_ download: Download) {
        let error = timeout(of: download)
        keepBeginning(of: download)
        download.rest?.cancel()
        queue.remove(download.id)
        lookUps?.remove(download.id)
        // The end of the transfer only frees the slot.
        download.receiver = nil
        download.transfer?.cancel()
        download.transfer = nil
        download.state = .running
        download.log.finish(.failure(error))
        settle(download)
    }
}
