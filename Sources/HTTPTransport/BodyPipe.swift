import Threading

/// A response on its way from a transport, which pushes it, to a task, which pulls it.
///
/// Each piece takes one lock and is copied once. The transfer is paused while ``highWater`` bytes or more wait, and
/// continues when the task takes them. Pieces that arrive before the task takes them are joined, so that a body that
/// arrives byte by byte costs no more than its bytes.
package final class BodyPipe: TransferReceiver {
    /// The number of waiting bytes at which the transfer is paused.
    package static let highWater = 128 << 10
    /// The number of waiting bytes at which the transfer is paused before the task first takes bytes, if the head decides
    /// whether it does: so little that only one read from a connection, of up to 60 KiB, can exceed it.
    package static let undecidedHighWater = 4 << 10

    fileprivate struct State {
        var head: ResponseHead?
        var bytes: [UInt8] = []
        var outcome: TransferOutcome?
        /// The transfer, until it has ended.
        var transfer: (any Transfer)?
        var isPaused = false
        /// The number of waiting bytes at which the transfer is paused.
        var limit: Int
        var isCancelled = false
        /// A Boolean value that indicates whether something has arrived since the task last looked.
        var hasChange = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let url: HTTPURL
    private let interest: BodyInterest?
    private let state: Locked<State>

    /// Creates a pipe for the response to a request for `url`.
    ///
    /// If `isUndecided`, the task might not take the body, so little of it is received before the task takes bytes.
    package init(url: HTTPURL, isUndecided: Bool = false, interest: BodyInterest? = nil) {
        self.url = url
        self.interest = interest
        state = Locked(State(limit: isUndecided ? Self.undecidedHighWater : Self.highWater))
    }

    /// Sets the transfer to pause, resume, and cancel.
    package func attach(_ transfer: any Transfer) {
        let isCancelled = state.withLock { state in
            // It may have ended before it was returned.
            if state.outcome == nil { state.transfer = transfer }
            return state.isCancelled
        }
        if isCancelled { transfer.cancel() }
    }

    /// Cancels the transfer, unless it has ended; the bytes that have arrived can still be read.
    package func cancel() {
        let transfer = state.withLock { state in
            state.isCancelled = true
            return state.transfer
        }
        transfer?.cancel()
    }

    // MARK: The transport's thread

    package func receive(_ head: ResponseHead) {
        update { $0.head = head }
    }

    package func receive(_ bytes: Span<UInt8>) -> BodyDemand {
        let (demand, waiting) = state.withLock { state -> (BodyDemand, CheckedContinuation<Void, Never>?) in
            let limit = interest?.isInBeginning == true ? min(state.limit, BodyInterest.beginning) : state.limit
            guard state.bytes.count < limit else {
                state.isPaused = true
                return (.pause, nil)
            }
            state.bytes.append(copying: bytes)
            return (.more, state.takeWaiting())
        }
        waiting?.resume()
        return demand
    }

    package func finish(_ outcome: TransferOutcome) {
        update { ($0.outcome, $0.transfer) = (outcome, nil) }
    }

    private func update(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            return state.takeWaiting()
        }
        waiting?.resume()
    }

    // MARK: The task

    /// Returns the head when it has arrived; throws an error if the transfer ends before.
    package func head() async throws(TransportError) -> ResponseHead {
        while true {
            let (head, outcome) = state.withLock { ($0.head, $0.outcome) }
            if let head { return head }
            if case .failed(let error)? = outcome { throw error }
            if outcome != nil { throw TransportError(url: url.string, reason: .connectionLost) }
            await waitForChange()
        }
    }

    /// Returns the bytes that have arrived since the last call, at least one; `nil` at the end of the body.
    ///
    /// Throws the error that ended the transfer early. Canceling the task cancels the transfer.
    package func next() async throws(TransportError) -> [UInt8]? {
        while true {
            let (bytes, outcome, resumed) = state.withLock { state in
                defer { (state.bytes, state.isPaused, state.limit) = ([], false, Self.highWater) }
                return (state.bytes, state.outcome, state.isPaused ? state.transfer : nil)
            }
            resumed?.resume()
            if !bytes.isEmpty { return bytes }
            switch outcome {
            case .complete: return nil
            case .stopped: throw TransportError(url: url.string, reason: .cancelled)
            case .failed(let error): throw error
            case nil: await waitForChange()
            }
        }
    }

    /// The metrics of the transfer; empty before its end.
    package var metrics: TransferMetrics {
        switch state.withLock({ $0.outcome }) {
        case .complete(let metrics), .stopped(let metrics): metrics
        case .failed, nil: TransferMetrics()
        }
    }

    /// Returns when something has arrived.
    private func waitForChange() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasChange = state.withLock { state in
                    defer { state.hasChange = false }
                    if !state.hasChange { state.waiting = continuation }
                    return state.hasChange
                }
                if hasChange { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }
}

extension BodyPipe.State {
    /// Takes the task to resume; without one, the next call of `waitForChange()` returns at once.
    fileprivate mutating func takeWaiting() -> CheckedContinuation<Void, Never>? {
        hasChange = waiting == nil
        defer { waiting = nil }
        return waiting
    }
}
