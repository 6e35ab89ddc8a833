import HTTPTransport

// Messages, translated to events of the machine.
extension DownloadCoordinator {
    /// Returns the event of a message; `nil` if it requires no decision.
    func event(of message: CoordinatorMessage) -> DownloadMachine.Event? {
        switch message {
        case .join(let caller): return caller.isSettled || isServedFromMemory(caller) ? nil : .join(caller)
        case .leave(let caller, _): return .leave(caller)
        case .prioritize(let caller, let priority): return .prioritize(caller, priority)
        case .watch(let caller, let stream): return .watch(caller, stream)
        case .stopWatching(let caller, let stream): return .stopWatching(caller, stream)
        case .decided(let id, let decision, let timeLimit): return decided(id, decision, timeLimit: timeLimit)
        case .transferEnded(let id): return endOfTransfer(id)
        case .backoffElapsed(let id): return .backoffElapsed(id)
        case .slot(let signal): return .slot(signal)
        case .deadlinePassed: return .deadlinePassed
        case .gracePeriodEnded: return .gracePeriodEnded
        case .memoryFreed:
            bytesInFlight.letBodiesGrow()
            return nil
        // Every turn starts the downloads that may start.
        case .rateAllowsStart: return nil
        }
    }

    /// Answers a caller with a cached decoded image, if there is one; returns whether it did.
    private func isServedFromMemory(_ caller: Subscriber) -> Bool {
        guard case .pixels(let options) = caller.variant?.content,
            let key = caller.key.cacheKeyForReading(options, digest: caller.expectedDigest)
        else { return false }
        guard let cached = cache.response(for: key) else {
            cacheMetrics?.recordMiss()
            return false
        }
        cacheMetrics?.recordHit()
        if let refusal = caller.refusal(of: cached.image.header) {
            caller.fail(refusal)
        } else {
            caller.deliver(cached.image, from: cached.origin)
        }
        return true
    }

    /// The end of a transfer, as reported by its receiver.
    private func endOfTransfer(_ id: Download.ID) -> DownloadMachine.Event {
        guard let download = downloads[id], let receiver = download.receiver else {
            return .transferEnded(id, .cancelled)
        }
        download.transfer = nil
        let (failure, peer) = (receiver.failure, receiver.peer)
        guard let failure else { return .transferEnded(id, .complete, peer: peer) }
        download.log.detach()
        return switch failure {
        case .notContinued: .transferEnded(id, .notContinued, peer: peer)
        case .failed(let error):
            .transferEnded(id, receiver.isRemembered ? .remembered(error) : .failed(error), peer: peer)
        }
    }
}
