import Threading

/// Distributes the states of one decode to its watching channels.
final class FrameHub<Frame: Sendable>: Sendable {
    fileprivate struct State {
        var channels: [UInt64: FrameChannel<Frame>] = [:]
        var last: Frame?
    }

    private let state = Locked(State())

    /// A Boolean value that indicates whether any channel is waiting for a frame.
    var isWanted: Bool {
        state.withLock { $0.channels.values.contains { $0.isWanted } }
    }

    /// Adds a channel, which gets the last state immediately.
    func add(_ channel: FrameChannel<Frame>, id: UInt64) {
        state.withLock { state in
            state.channels[id] = channel
            // Under the lock, so that it cannot replace a newer state.
            if let last = state.last { channel.publish(last) }
        }
    }

    /// Removes a channel.
    func remove(_ id: UInt64) {
        state.withLock { $0.channels[id] = nil }
    }

    /// Publishes a state to all channels.
    func publish(_ frame: Frame) {
        let channels = state.withLock { state in
            state.last = frame
            return Array(state.channels.values)
        }
        for channel in channels { channel.publish(frame) }
    }
}
