import Threading

/// The control of a load that requests several URLs in turn: it controls the load of the current one.
final class FallbackControl: LoadController {
    private struct State {
        var priority: DownloadPriority
        var current: (any LoadController)?
        /// The streams of progress, which get each load.
        var watchers: [Int: AsyncStream<any LoadController>.Continuation] = [:]
        var lastWatcher = 0
        var isCanceled = false
        var hasEnded = false
    }

    private let state: Locked<State>

    init(priority: DownloadPriority) {
        state = Locked(State(priority: priority))
    }

    deinit { end() }

    /// Sets the load of the next URL.
    func follow(_ load: any LoadController) {
        let isCanceled = state.withLock { state in
            if load.priority != state.priority { load.priority = state.priority }
            state.current = load
            for watcher in state.watchers.values { watcher.yield(load) }
            return state.isCanceled
        }
        if isCanceled { load.cancel() }
    }

    /// Ends the streams of progress, because there is no further URL.
    func end() {
        let watchers = state.withLock { state in
            state.hasEnded = true
            defer { state.watchers = [:] }
            return state.watchers
        }
        for watcher in watchers.values { watcher.finish() }
    }

    func cancel() {
        let current = state.withLock { state in
            state.isCanceled = true
            return state.current
        }
        current?.cancel()
    }

    var progress: AsyncStream<DownloadProgress> {
        let (loads, watcher) = AsyncStream.makeStream(of: (any LoadController).self)
        let id = state.withLock { state in
            state.lastWatcher += 1
            if let current = state.current { watcher.yield(current) }
            if state.hasEnded { watcher.finish() } else { state.watchers[state.lastWatcher] = watcher }
            return state.lastWatcher
        }
        let (stream, continuation) = AsyncStream.makeStream(
            of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        let forwarding = Task {
            for await load in loads {
                for await progress in load.progress { continuation.yield(progress) }
            }
            continuation.finish()
        }
        continuation.onTermination = { [weak self] _ in
            forwarding.cancel()
            self?.state.withLock { $0.watchers[id] = nil }
        }
        return stream
    }

    var priority: DownloadPriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { state in
                state.priority = newValue
                state.current?.priority = newValue
            }
        }
    }
}
