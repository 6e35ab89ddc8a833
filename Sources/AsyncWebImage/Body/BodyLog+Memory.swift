import HTTPTransport
import Threading

// While all bodies together hold too much, one that is only decoded keeps no more than its share, and of those that are kept
// whole one at a time grows.
extension BodyLog {
    /// Whether there is no memory for more of this body; the transfer is resumed when there is.
    func waitsForMemory(_ state: inout State) -> Bool {
        guard state.isCrowded else { return false }
        if state.collectors.isEmpty, !state.readers.isEmpty {
            // What has been read is there only for those who may yet join.
            state.isWhole = false
            state.dropRead()
            guard state.isCrowded else { return false }
            // The readers give memory back as they go on, which they can.
            guard state.unread == 0 else {
                state.leaveCrowd()
                return true
            }
        }
        state.isInCrowd = true
        state.waitsForMemory = !state.bytesInFlight.admits(state.id) { [weak self] in self?.goOn() }
        return state.waitsForMemory
    }

    /// There is memory.
    private func goOn() {
        let resumed = state.withLock { state in
            state.waitsForMemory = false
            let resumed = state.resumed()
            // Its readers hold it up by now: another goes on.
            if resumed == nil, state.isPaused, state.transfer != nil { state.leaveCrowd() }
            return resumed
        }
        resumed?.resume()
    }

    /// Forgets a large body whose transfer has failed and is to be tried again, where others wait for the memory.
    ///
    /// Otherwise one after the other would hold what it got, for as long as it rests.
    func forgetIfCrowded() {
        let waiting = state.withLock { state in
            guard state.isCrowded else { return [CheckedContinuation<Void, Never>]() }
            state.restart()
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension BodyLog.State {
    /// Whether the body is larger than it may be without asking.
    fileprivate var isCrowded: Bool { bytesInFlight.isCrowded(for: held) }

    /// Lets another body have the memory that this one was to have next.
    mutating func leaveCrowd() {
        guard isInCrowd else { return }
        (isInCrowd, waitsForMemory) = (false, false)
        bytesInFlight.leave(id)
    }

    /// The same at the end of the transfer.
    ///
    /// A body that nobody decodes is about to be handed over: until then it is the one that holds more than its share.
    mutating func leaveCrowdUnlessDelivered() {
        if case .success? = end, readers.isEmpty, !waitsForMemory { return }
        leaveCrowd()
    }
}
