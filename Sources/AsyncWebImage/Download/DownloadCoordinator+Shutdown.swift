import ResponseCache

// The shutdown: nothing new begins, selected downloads finish, and callers are notified of the end.
extension DownloadCoordinator {
    /// Shuts down as ``ImageLoader/shutdown(gracePeriod:)`` does; `startsWaiting` indicates whether downloads that wait
    /// for a slot, or for their next attempt, may finish as well.
    package func shutDown(gracePeriod: Duration, startsWaiting: Bool = true) async {
        immediateResponses?.end()
        turn(.shutDown(gracePeriod: gracePeriod, startsWaiting: startsWaiting))
        await withTaskCancellationHandler {
            _ = try? await shutdownEnd.value
        } onCancel: {
            post(.event(.gracePeriodEnded))
        }
        // All received data has been stored when the process ends.
        await environment.responseCache?.flush()
    }

    /// Completes the shutdown when there is no activity anymore.
    func finishShutdown() {
        listeners.end()
        alarms[.gracePeriod] = nil
        environment.buffers.close()
        environment.decoder.pixels.close()
        // No combination begins anymore, because there are no downloads.
        pendingAnswers.whenNone { [shutdownEnd] in shutdownEnd.resolve(.success(())) }
    }
}
