import Threading

/// A clock that stands still until a test moves it.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant()
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var lastSleeper = 0
        /// Tests that wait for somebody to sleep.
        var watchers: [CheckedContinuation<Instant, Never>] = []
    }

    private let state = Locked(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isOver, isCancelled, watchers) = state.withLock { state in
                    if state.cancelled.contains(id) { return (false, true, [CheckedContinuation<Instant, Never>]()) }
                    if state.now >= deadline { return (true, false, []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    defer { state.watchers = [] }
                    return (false, false, state.watchers)
                }
                if isOver { continuation.resume() }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume(returning: deadline) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves the time on, and wakes those who have slept long enough.
    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Until when somebody sleeps; waits until somebody does.
    func nextSleep() async -> Instant {
        await withCheckedContinuation { continuation in
            let deadline = state.withLock { state -> Instant? in
                if let deadline = state.sleepers.values.map(\.deadline).min() { return deadline }
                state.watchers.append(continuation)
                return nil
            }
            if let deadline { continuation.resume(returning: deadline) }
        }
    }
}
