// The end: nothing new begins, what may finish gets its time, and who asked hears when all is over.
extension DownloadCoordinator {
    /// See ``ImageLoader/shutdown(gracePeriod:)``.
    func shutDown(gracePeriod: Duration) async {
        readInbox()
        let done = beginShutdown()
        limitGrace(to: gracePeriod)
        await withTaskCancellationHandler {
            _ = try? await done.value
        } onCancel: {
            post(.graceEnded)
        }
        // What has come is stored when the process ends.
        await responseCache?.finishesWriting()
    }

    private func beginShutdown() -> OneShot<Void> {
        if let shutdown { return shutdown.done }
        let shutdown = Shutdown(clock: clock) { [weak self] in self?.post(.graceEnded) }
        self.shutdown = shutdown
        shutdownSignal.give()
        for download in Array(downloads.values) where !download.finishesOnShutdown {
            stop(download, ImageError.shutDown)
        }
        // What waits could not finish otherwise.
        setSuspended(false)
        startNext()
        finishShutdownIfIdle()
        return shutdown.done
    }

    private func limitGrace(to period: Duration) {
        guard period > .zero else { return endGrace() }
        shutdown?.limitGrace(to: period)
    }

    /// What has not finished by now does not.
    func endGrace() {
        for download in Array(downloads.values) { stop(download, ImageError.shutDown) }
        finishShutdownIfIdle()
    }

    func finishShutdownIfIdle() {
        guard shutdown != nil, downloads.isEmpty, runningCount == 0, decodeCount == 0 else { return }
        // Nobody will go on with them.
        interrupted = InterruptedBodies(limit: 0)
        listeners.end()
        shutdown?.finish()
    }
}
