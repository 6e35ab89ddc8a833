// The shutdown: nothing new begins, selected downloads finish, and callers are notified of the end.
extension DownloadMachine {
    /// The shutdown of a loader, from the first request for it.
    struct Shutdown {
        /// The end of the grace period; `nil` until it is set.
        var end: Instant?
        /// A Boolean value that indicates whether there is no activity anymore.
        var isFinished = false
    }

    mutating func shutDown(gracePeriod: Duration, startsWaiting: Bool) {
        if shutdown == nil {
            shutdown = Shutdown()
            emit(.beginShutdown)
            for id in downloads.ids {
                guard let download = downloads[id: id] else { continue }
                let mayFinish = startsWaiting || !download.isWaiting
                guard !mayFinish || !callers.finishesOnShutdown(download.callers) else { continue }
                stop(id, ImageError.shutDown)
            }
            // Waiting downloads could not finish otherwise.
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

    /// Stops downloads that have not finished.
    mutating func endGracePeriod() {
        guard shutdown != nil else { return reject("gracePeriodEnded", 0) }
        stopAll(ImageError.shutDown)
    }

    mutating func finishShutdownIfIdle() {
        guard let shutdown, !shutdown.isFinished, downloads.isEmpty, decodes.isEmpty else { return }
        self.shutdown?.isFinished = true
        // They will not be continued.
        interrupted = InterruptedBodies(limit: 0)
        emit(.finishShutdown)
    }
}
