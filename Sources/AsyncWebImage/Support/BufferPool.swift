import ImageCodecs
import Threading

/// The memory of finished bodies or of images, which later ones reuse.
///
/// Otherwise the heap maps and unmaps the memory of every large one, and each of its pages costs a page fault.
///
/// A body or an image is an array that its callers own, too. The pool shares it and, before it is reused, lets the
/// array determine whether any other owner remains; if so, the new one gets an array of its own. One for which no array
/// has the right size takes the place of older ones, so that many sizes do not fill the pool. Memory that is unused for
/// ``idleTime`` is released.
final class BufferPool: PixelMemory {
    /// The arrays that a pool keeps.
    struct Limits {
        /// The maximum size of the pool, in bytes.
        let byteCount: Int
        /// The capacities of the arrays that are kept, in bytes: the heap usually serves smaller ones from memory that it
        /// has.
        let capacities: ClosedRange<Int>
        /// The maximum share by which an array that is reused exceeds the requested capacity.
        let maximumExcess: Double

        /// The limits of a pool that keeps nothing.
        static let none = bodies(byteCount: 0)

        /// The limits of a pool that keeps the memory of bodies of up to 8 MiB, at most `byteCount` bytes of it.
        static func bodies(byteCount: Int = 16 << 20) -> Limits {
            // The heap rounds capacities up to pages.
            Limits(byteCount: byteCount, capacities: 64 << 10...(8 << 20) + (64 << 10), maximumExcess: 1 / 4)
        }

        /// The limits of a pool for the pixels of images, which are decoded within `memoryBudget` bytes.
        ///
        /// An image can stay in a cache for a long time, so it gets little more memory than it needs.
        static func pixels(memoryBudget: Int) -> Limits {
            let byteCount = min(128 << 20, memoryBudget / 2)
            return Limits(
                byteCount: byteCount, capacities: 1 << 20...max(1 << 20, byteCount), maximumExcess: 1 / 16)
        }
    }

    private struct State {
        var buffers: KeptBuffers
        var alarm: Alarm<Stopwatch>?
        /// A Boolean value that indicates whether there has been an access since the alarm was set.
        var isUsed = false
    }

    /// The time after which unused memory is released; up to twice this time, because only an alarm checks the use.
    static let idleTime = Duration.seconds(1)

    private let limits: Limits
    private let clock: Stopwatch
    private let state: Locked<State>

    /// Creates an empty pool; one with a limit of 0 bytes is always empty.
    init(_ limits: Limits, clock: Stopwatch = Stopwatch(ContinuousClock())) {
        self.limits = limits
        self.clock = clock
        state = Locked(State(buffers: KeptBuffers(limits)))
    }

    /// The number of bytes kept, including those that callers still use.
    var byteCount: Int { state.withLock { $0.buffers.byteCount } }

    /// Returns an empty array with at least this capacity.
    func take(capacity: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        if limits.capacities.contains(capacity) {
            let removed: [[UInt8]]
            (bytes, removed) = state.withLock { state in
                state.isUsed = true
                if let bytes = state.buffers.remove(capacity: capacity) { return (bytes, []) }
                // The sizes have changed. New memory replaces old memory, which would otherwise fill the pool.
                return ([], state.buffers.removeOldest(capacity: capacity))
            }
            _ = removed
            // If a caller still uses the array, this replaces it with a new one.
            bytes.removeAll(keepingCapacity: true)
        }
        bytes.reserveCapacity(capacity)
        return bytes
    }

    /// Adds the array of a finished body or image, which others might still read, if its size is suitable.
    func keep(_ bytes: [UInt8]) {
        guard limits.capacities.contains(bytes.capacity) else { return }
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
        let removed = state.withLock { $0.buffers.removeAll() }
        _ = removed
    }

    /// Releases the memory, and keeps none from now on.
    func close() {
        let removed = state.withLock { state in
            defer { (state.buffers, state.alarm) = (KeptBuffers(.none), nil) }
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
        let removed = state.withLock { state -> [[UInt8]] in
            // Without an alarm, the pool has been closed meanwhile.
            guard state.alarm != nil else { return [] }
            guard !state.isUsed else {
                setAlarm(&state)
                return []
            }
            state.alarm = nil
            return state.buffers.removeAll()
        }
        _ = removed
    }
}
