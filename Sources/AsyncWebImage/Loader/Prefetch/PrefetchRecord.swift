import Threading

/// Counts the results of one list, and notifies its watchers.
final class PrefetchRecord: Sendable {
    private struct State {
        var result: PrefetchResult
        var watchers: [Int: AsyncStream<PrefetchProgress>.Continuation] = [:]
        var lastWatcher = 0
        var isOver = false
    }

    /// The maximum number of failures recorded individually.
    static let maximumFailures = 100

    private let state: Locked<State>

    init(total: Int) {
        state = Locked(State(result: PrefetchResult(progress: PrefetchProgress(total: total))))
    }

    var result: PrefetchResult { state.withLock { $0.result } }

    /// Records the result of `load`; throws a cancellation of the list, and a shutdown of the loader, which end it.
    func note(_ url: String, _ load: () async throws -> Void) async throws {
        do {
            try await load()
            update { $0.progress.finished += 1 }
        } catch let error as CancellationError where Task.isCancelled {
            throw error
        } catch ImageError.shutDown {
            throw ImageError.shutDown
        } catch {
            update { $0.fail(url, error) }
        }
    }

    /// Ends the record; nothing changes anymore.
    func end() {
        let watchers = state.withLock { state in
            state.isOver = true
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    func makeStream() -> AsyncStream<PrefetchProgress> {
        let (stream, watcher) = AsyncStream.makeStream(
            of: PrefetchProgress.self, bufferingPolicy: .bufferingNewest(1))
        let (id, isOver) = state.withLock { state in
            state.lastWatcher += 1
            watcher.yield(state.result.progress)
            if !state.isOver { state.watchers[state.lastWatcher] = watcher }
            return (state.lastWatcher, state.isOver)
        }
        if isOver { watcher.finish() }
        watcher.onTermination = { [weak self] _ in
            self?.state.withLock { $0.watchers[id] = nil }
        }
        return stream
    }

    private func update(_ change: (inout PrefetchResult) -> Void) {
        state.withLock { state in
            change(&state.result)
            // Under the lock; otherwise a watcher could get an older count last.
            for watcher in state.watchers.values { watcher.yield(state.result.progress) }
        }
    }
}

extension PrefetchResult {
    fileprivate mutating func fail(_ url: String, _ error: any Error) {
        progress.failed += 1
        guard failures.count < PrefetchRecord.maximumFailures else { return }
        var error = error
        // Partial images would waste memory.
        if case ImageError.codec(let cause, let url, _) = error { error = ImageError.codec(cause, url: url) }
        failures.append(Failure(url: url, error: error))
    }
}
