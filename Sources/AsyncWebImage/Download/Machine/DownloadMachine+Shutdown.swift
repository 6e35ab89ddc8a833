// The end: nothing new begins, what may finish gets its time, and those who asked hear when all is over.
extension DownloadMachine {
    /// The end of a loader, from the first request for it on.
    struct Shutdown {
        /// When the time to finish is over; nil as long as nobody has said.
        var end: Instant?
        /// Whether nothing is going on any more.
        var isFinished = false
    }

    mutating func shutDown(gracePeriod: Duration) {
        if shutdown == nil {
            shutdown = Shutdown()
            emit(.beginShutdown)
            for id in downloads.ids {
                guard let download = downloads[id: id], !callers.finishesOnShutdown(download.callers) else { continue }
                stop(id, ImageError.shutDown)
            }
            // What waits could not finish otherwise.
            setSuspended(false)
        }
        if gracePeriod > .zero { limitGracePeriod(to: gracePeriod) } else { endGracePeriod() }
    }

    /// Sets the end to `period` from now unless an earlier one is set.
    private mutating func limitGracePeriod(to period: Duration) {
        guard let shutdown, !shutdown.isFinished else { return }
        let end = now.advanced(by: min(period, Stopwatch.longest))
        if let earlier = shutdown.end, earlier <= end { return }
        self.shutdown?.end = end
        emit(.setAlarm(.gracePeriod, end))
    }

    /// Stops what has not finished by now.
    mutating func endGracePeriod() {
        guard shutdown != nil else { return reject("gracePeriodEnded", 0) }
        stopAll(ImageError.shutDown)
    }

    mutating func finishShutdownIfIdle() {
        guard let shutdown, !shutdown.isFinished, downloads.isEmpty, decodes.isEmpty else { return }
        self.shutdown?.isFinished = true
        // Nobody will go on with them.
        interrupted = InterruptedBodies(limit: 0)
        emit(.finishShutdown)
    }
}
