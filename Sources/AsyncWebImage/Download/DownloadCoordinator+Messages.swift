import HTTPTransport

// Messages, translated to events of the machine.
extension DownloadCoordinator {
    /// Runs `body`, and then handles the messages that it has posted, in one turn.
    func inOneTurn<Result: Sendable>(_ body: @Sendable () -> Result) -> Result { body() }

    /// Returns the event of a message; `nil` if it requires no decision.
    func event(of message: CoordinatorMessage) -> DownloadMachine.Event? {
        switch message {
        case .join(let caller):
            guard !caller.isSettled, !environment.images.answer(caller), !looksForFile(of: caller) else {
                return nil
            }
            caller.conditions?.startTime(environment.clock) { [weak self, id = caller.id] in
                self?.post(.event(.callerTimedOut(id)))
            }
            return .join(caller)
        case .leave(let caller, _): return .leave(caller)
        case .transferEnded(let id): return endOfTransfer(id)
        case .event(let event): return event
        case .watch(let caller, let stream):
            // An answered caller gets no progress.
            if let log = download(of: caller)?.log { log.watch(caller, stream) } else { stream.finish() }
        case .stopWatching(let caller, let stream): download(of: caller)?.log.stopWatching(caller, stream)
        // Becomes messages of the callers.
        case .fileLookedUp: break
        case .memoryFreed: bytesInFlight.letBodiesGrow()
        // Every turn starts the downloads that may start.
        case .rateAllowsStart: break
        }
        return nil
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
