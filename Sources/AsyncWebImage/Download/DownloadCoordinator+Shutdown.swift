import ResponseCache

// The end: nothing new begins, what may finish gets its time, and those who asked hear when all is over.
extension DownloadCoordinator {
    /// See ``ImageLoader/shutdown(gracePeriod:)``.
    func shutDown(gracePeriod: Duration) async {
        turn(.shutDown(gracePeriod: gracePeriod))
        await withTaskCancellationHandler {
            _ = try? await shutdownEnd.value
        } onCancel: {
            post(.gracePeriodEnded)
        }
        // What has come is stored when the process ends.
        await responseCache?.finishesWriting()
    }

    /// Nothing is going on any more.
    func finishShutdown() {
        listeners.end()
        alarms[.gracePeriod] = nil
        shutdownEnd.resolve(.success(()))
    }
}
