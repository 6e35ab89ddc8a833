import Threading

/// A channel that delivers the states of an arriving image to one consumer.
///
/// Only the newest state is kept, so a slow consumer skips states; the end is always delivered.
final class FrameChannel<Frame: Sendable>: Sendable {
    fileprivate struct State {
        var newest: Frame?
        var end: Result<Void, any Error>?
        /// The continuation of the consumer; several if tasks share a stream.
        var waiting: [CheckedContinuation<Void, Never>] = []
        var onDemand: (@Sendable () -> Void)?
    }

    private let state = Locked(State())
    private let failsAtOnce: Bool

    /// Creates a channel.
    ///
    /// An error replaces the newest state if `failsAtOnce` is `true`; otherwise it is delivered after that state.
    init(failsAtOnce: Bool = true) {
        self.failsAtOnce = failsAtOnce
    }

    /// A Boolean value that indicates whether the consumer is waiting for a frame.
    var isWanted: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// A Boolean value that indicates whether the end has been set, or the consumer has gone.
    var isFinished: Bool { state.withLock { $0.end != nil } }

    /// Sets a closure that is called whenever the consumer begins to wait, and immediately if it is waiting.
    func onDemand(_ call: @escaping @Sendable () -> Void) {
        let isWaiting = state.withLock { state in
            // After the end, it would retain its captures needlessly.
            if state.end == nil { state.onDemand = call }
            return !state.waiting.isEmpty
        }
        if isWaiting { call() }
    }

    /// Publishes a state, replacing one that has not been taken.
    func publish(_ frame: Frame) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.end == nil else { return [] }
            state.newest = frame
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Sets the end: the final frame, or the error.
    ///
    /// Later calls have no effect.
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

    /// Returns the newest frame that has not been taken; waits for one if necessary.
    ///
    /// Returns `nil` after the final frame.
    func next() async throws -> Frame? {
        while true {
            let (frame, end) = state.withLock { state in
                defer { state.newest = nil }
                return (state.newest, state.end)
            }
            if let frame { return frame }
            if let end {
                // An error is thrown once; further calls return the end of the stream.
                state.withLock { $0.end = .success(()) }
                try end.get()
                return nil
            }
            await withCheckedContinuation { continuation in
                let (isReady, onDemand) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
                    guard state.newest == nil, state.end == nil else { return (true, nil) }
                    state.waiting.append(continuation)
                    // Closures set from now on see that the consumer is waiting.
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
