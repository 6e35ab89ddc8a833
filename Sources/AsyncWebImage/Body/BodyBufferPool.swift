import Threading

/// The memory of finished bodies, which later bodies reuse.
///
/// Otherwise the heap maps and unmaps the memory of every large body, and each of its pages costs a page fault.
///
/// A body is an array that its callers own, too. The pool shares it and, before it is reused, lets the array determine
/// whether any other owner remains; if so, the new body gets an array of its own. A body for which no array has the right size
/// takes the place of older ones, so that bodies of many sizes do not fill the pool. Memory that is unused for
/// ``idleTime`` is released.
final class BodyBufferPool: Sendable {
    private struct State {
        var buffers: KeptBuffers
        var alarm: Alarm<Stopwatch>?
        /// A Boolean value that indicates whether there has been an access since the alarm was set.
        var isUsed = false
    }

    /// The default maximum size, in bytes.
    static let defaultLimit = 16 << 20
    /// The capacities of the arrays that are kept: the heap serves smaller ones without mapping memory.
    static let capacities = 64 << 10...4 << 20
    /// The time after which unused memory is released; up to twice this time, because only an alarm checks the use.
    static let idleTime = Duration.seconds(1)

    private let clock: Stopwatch
    private let state: Locked<State>

    /// Creates an empty pool that keeps at most `limit` bytes; a pool with a limit of 0 is always empty.
    init(limit: Int = defaultLimit, clock: Stopwatch = Stopwatch(ContinuousClock())) {
        self.clock = clock
        state = Locked(State(buffers: KeptBuffers(limit: limit)))
    }

    /// The number of bytes kept, including those that callers still use.
    var byteCount: Int { state.withLock { $0.buffers.byteCount } }

    /// Returns an empty array with at least this capacity.
    func take(capacity: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        if Self.capacities.contains(capacity) {
            let removed: [[UInt8]]
            (bytes, removed) = state.withLock { state in
                state.isUsed = true
                if let bytes = state.buffers.remove(capacity: capacity) { return (bytes, []) }
                // The sizes of bodies have changed. New memory replaces old memory, which would otherwise fill the pool.
                return ([], state.buffers.removeOldest(capacity: capacity))
            }
            _ = removed
            // If a caller still uses the array, this replaces it with a new one.
            bytes.removeAll(keepingCapacity: true)
        }
        bytes.reserveCapacity(capacity)
        return bytes
    }

    /// Adds the array of a finished body, which others might still read, if its size is suitable.
    func keep(_ bytes: [UInt8]) {
        guard Self.capacities.contains(bytes.capacity) else { return }
        // Released after the lock, because unmapping takes time.
        let removed = state.withLock { state in
            let removed = state.buffers.insert(bytes)
            state.isUsed = true
            if state.alarm == nil, state.buffers.byteCount > 0 { setAlarm(&state) }
            return removed
        }
        _ = removed
    }

    /// Releases the memory that callers do not use.
    func removeAll() {
        let removed = state.withLock { state in
            defer { state.buffers = KeptBuffers(limit: state.buffers.limit) }
            return state.buffers
        }
        _ = removed
    }

    /// Releases the memory, and keeps none from now on.
    func close() {
        let removed = state.withLock { state in
            defer { (state.buffers, state.alarm) = (KeptBuffers(limit: 0), nil) }
            return state.buffers
        }
        _ = removed
    }

    private func setAlarm(_ state: inout State) {
        state.isUsed = false
        let alarm = Alarm(clock: clock) { [weak self] in self?.releaseIfUnused() }
        alarm.set(clock.now.advanced(by: Self.idleTime))
        state.alarm = alarm
    }

    private func releaseIfUnused() {
        let removed = state.withLock { state -> KeptBuffers? in
            guard !state.isUsed else {
                setAlarm(&state)
                return nil
            }
            defer { (state.buffers, state.alarm) = (KeptBuffers(limit: state.buffers.limit), nil) }
            return state.buffers
        }
        _ = removed
    }
}
