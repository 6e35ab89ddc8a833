import Threading

/// Hands the previews of one decode to all who watch it.
final class FrameHub: Sendable {
    fileprivate struct State {
        var channels: [UInt64: FrameChannel] = [:]
        var last: ImageFrame?
    }

    private let state = Locked(State())

    /// Whether anybody waits for a preview right now.
    var isWanted: Bool {
        state.withLock { $0.channels.values.contains { $0.isWanted } }
    }

    /// Lets `channel` watch; it gets the last preview at once.
    func add(_ channel: FrameChannel, id: UInt64) {
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

    /// Hands a preview to all.
    func publish(_ frame: ImageFrame) {
        let channels = state.withLock { state in
            state.last = frame
            return Array(state.channels.values)
        }
        for channel in channels { channel.publish(frame) }
    }
}
