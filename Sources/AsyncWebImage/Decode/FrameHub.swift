import Threading

/// Hands the states of one decode to all who watch it.
final class FrameHub<Frame: Sendable>: Sendable {
    fileprivate struct State {
        var channels: [UInt64: FrameChannel<Frame>] = [:]
        var last: Frame?
    }

    private let state = Locked(State())

    /// A Boolean value that indicates whether anybody waits for one right now.
    var isWanted: Bool {
        state.withLock { $0.channels.values.contains { $0.isWanted } }
    }

    /// Lets `channel` watch; it gets the last state at once.
    func add(_ channel: FrameChannel<Frame>, id: UInt64) {
        state.withLock { state in
            state.channels[id] = channel
            // Under the lock, so that it cannot take the place of a newer one.
            if let last = state.last { channel.publish(last) }
        }
    }

    /// Lets a channel watch no longer.
    func remove(_ id: UInt64) {
        state.withLock { $0.channels[id] = nil }
    }

    /// Hands a state to all.
    func publish(_ frame: Frame) {
        let channels = state.withLock { state in
            state.last = frame
            return Array(state.channels.values)
        }
        for channel in channels { channel.publish(frame) }
    }
}
