import Threading

/// A clock that stands still until a test moves it.
///
/// Pass it to `ImageLoader(configuration:transport:clock:)` and to a ``StubTransport``, wait until something sleeps, and
/// advance the time.
public final class ManualClock: Clock {
    /// A time of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the creation of the clock.
        public var offset: Duration

        /// Creates the time that is `offset` after the creation of the clock.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// Returns the time that is `duration` later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this instant to another one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns whether the first instant is earlier.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        var condition: @Sendable ([Instant]) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant()
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var lastSleeper = 0
        /// Tests that wait for a sleeping task.
        var watchers: [Int: Watcher] = [:]
        var lastWatcher = 0

        var deadlines: [Instant] { sleepers.values.map(\.deadline).sorted() }

        /// The tests whose condition is now met.
        mutating func satisfiedWatchers() -> [Watcher] {
            let satisfied = watchers.filter { $0.value.condition(deadlines) }
            for id in satisfied.keys { watchers[id] = nil }
            return Array(satisfied.values)
        }
    }

    private let state = Locked(State())

    /// Creates a clock whose time is zero.
    public init() {}

    /// The current time.
    public var now: Instant { state.withLock { $0.now } }
    /// The smallest difference of two times.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Returns when the clock has been moved to `deadline`; throws `CancellationError` if the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isOver, isCancelled, watchers) = state.withLock { state in
                    if state.cancelled.contains(id) { return (false, true, [Watcher]()) }
                    if state.now >= deadline { return (true, false, []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return (false, false, state.satisfiedWatchers())
                }
                if isOver { continuation.resume() }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the time, and wakes the tasks whose time has come.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }

    /// Returns the earliest deadline of a sleeping task; waits until there is one.
    ///
    /// Returns `nil` if the test is canceled in the meantime.
    public func nextSleep() async -> Instant? {
        await sleeps { !$0.isEmpty }
        return state.withLock { $0.deadlines.first }
    }

    /// Waits until tasks sleep until each of `times`, possibly among others, or the test is canceled.
    public func sleeps(until times: Duration...) async {
        await sleeps { deadlines in times.allSatisfy { deadlines.contains(Instant(offset: $0)) } }
    }

    private func sleeps(where condition: @escaping @Sendable ([Instant]) -> Bool) async {
        let id = state.withLock { state in
            state.lastWatcher += 1
            return state.lastWatcher
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || condition(state.deadlines) { return true }
                    state.watchers[id] = Watcher(condition: condition, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}
