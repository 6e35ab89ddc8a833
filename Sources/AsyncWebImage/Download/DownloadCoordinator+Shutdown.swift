import ResponseCache

// The shutdown: nothing new begins, selected downloads finish, and callers are notified of the end.
extension DownloadCoordinator {
    /// See ``ImageLoader/shutdown(gracePeriod:)``.
    func shutDown(gracePeriod: Duration) async {
        immediateResponses?.end()
        turn(.shutDown(gracePeriod: gracePeriod))
        await withTaskCancellationHandler {
            _ = try? await shutdownEnd.value
        } onCancel: {
            post(.gracePeriodEnded)
        }
        // All received data has been stored when the process ends.
        await responseCache?.flush()
    }

    /// Completes the shutdown when there is no activity anymore.
    func finishShutdown() {
        listeners.end()
        alarms[.gracePeriod] = nil
        buffers.close()
        decoder.pixels.close()
        // No combination begins anymore, because there are no downloads.
        pendingAnswers.whenNone { [shutdownEnd] in shutdownEnd.resolve(.success(())) }
    }
}
