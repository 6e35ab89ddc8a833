import HTTPTransport
import Threading

// While all bodies combined hold too much memory, one that is only decoded keeps no more than its share, and of those
// that are kept whole, one at a time grows.
extension BodyLog {
    /// Returns whether there is no memory for more of this body; the transfer is resumed when there is.
    func waitsForMemory(_ state: inout State) -> Bool {
        guard state.isOverBudget else { return false }
        if state.bodyWaiters.isEmpty, !state.readers.isEmpty {
            // Bytes that have been read are kept only for callers that might join.
            state.isComplete = false
            state.dropRead()
            guard state.isOverBudget else { return false }
            // The readers will release memory as they continue, which they can.
            guard state.unread == 0 else {
                state.leaveGrowthQueue()
                return true
            }
        }
        state.isInGrowthQueue = true
        state.waitsForMemory = !state.bytesInFlight.admits(state.id) { [weak self] in self?.resumeTransfer() }
        return state.waitsForMemory
    }

    /// Resumes the transfer because memory is available.
    private func resumeTransfer() {
        let resumed = state.withLock { state in
            state.waitsForMemory = false
            let resumed = state.resumed()
            // Its readers are too slow by now: another body continues.
            if resumed == nil, state.isPaused, state.transfer != nil { state.leaveGrowthQueue() }
            return resumed
        }
        resumed?.resume()
    }

    /// Discards a large body whose transfer has failed and will be retried, if others wait for memory.
    ///
    /// Otherwise each body would hold its memory while it waits for its retry.
    func discardIfOverBudget() {
        let waiting = state.withLock { state in
            guard state.isOverBudget else { return [CheckedContinuation<Void, Never>]() }
            state.restart()
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension BodyLog.State {
    /// A Boolean value that indicates whether the body is larger than allowed without a request for memory.
    fileprivate var isOverBudget: Bool { bytesInFlight.isOverBudget(for: held) }

    /// Passes this body's turn to another one.
    mutating func leaveGrowthQueue() {
        guard isInGrowthQueue else { return }
        (isInGrowthQueue, waitsForMemory) = (false, false)
        bytesInFlight.leave(id)
    }

    /// Passes its turn to another one at the end of the transfer.
    ///
    /// A body that is not decoded will be delivered soon: until then, it holds more than its share.
    mutating func leaveGrowthQueueUnlessDelivered() {
        if case .success? = end, readers.isEmpty, !waitsForMemory { return }
        leaveGrowthQueue()
    }
}
