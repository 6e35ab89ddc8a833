import Threading

/// What one consumer sees of an image that is arriving: only the newest state waits, so that a slow consumer sees fewer, and
/// the end always arrives.
final class FrameChannel<Frame: Sendable>: Sendable {
    fileprivate struct State {
        var newest: Frame?
        var end: Result<Void, any Error>?
        /// Of the consumer; of more than one, should several tasks share a stream.
        var waiting: [CheckedContinuation<Void, Never>] = []
        var onDemand: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let failsAtOnce: Bool

    /// A channel whose consumer hears of an error in place of the newest state, or, unless it `failsAtOnce`, behind it.
    init(failsAtOnce: Bool = true) {
        self.failsAtOnce = failsAtOnce
    }

    /// A Boolean value that indicates whether the consumer waits for a frame right now.
    var isWanted: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// A Boolean value that indicates whether the end has come, or the consumer has gone.
    var isFinished: Bool { state.withLock { $0.end != nil } }

    /// What to call whenever the consumer begins to wait, and now if it waits already.
    func onDemand(_ call: @escaping @Sendable () -> Void) {
        let isWaiting = state.withLock { state in
            // After the end it would keep what it captures for nothing.
            if state.end == nil { state.onDemand = call }
            return !state.waiting.isEmpty
        }
        if isWaiting { call() }
    }

    /// Offers a preview, in place of one that has not been taken.
    func publish(_ frame: Frame) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.end == nil else { return [] }
            state.newest = frame
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The end: the final frame, or why there is none.
    ///
    /// What comes later is ignored.
    func finish(_ result: Result<Frame, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.end == nil else { return [] }
            switch result {
            case .success(let frame):
                state.newest = frame
                state.end = .success(())
            case .failure(let error):
                if failsAtOnce { state.newest = nil }
                state.end = .failure(error)
            }
            state.onDemand = nil
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The newest frame that has not been taken; waits for one.
    ///
    /// Nil after the final one.
    func next() async throws -> Frame? {
        while true {
            let (frame, end) = state.withLock { state in
                defer { state.newest = nil }
                return (state.newest, state.end)
            }
            if let frame { return frame }
            if let end {
                // An error is told once; whoever asks again gets the end of the stream.
                state.withLock { $0.end = .success(()) }
                try end.get()
                return nil
            }
            await withCheckedContinuation { continuation in
                let (isReady, onDemand) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
                    guard state.newest == nil, state.end == nil else { return (true, nil) }
                    state.waiting.append(continuation)
                    // Who sets it from now on sees that somebody waits.
                    return (false, state.onDemand)
                }
                if isReady { continuation.resume() } else { onDemand?() }
            }
        }
    }
}

extension FrameChannel.State {
    fileprivate mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
        defer { waiting = [] }
        return waiting
    }
}
