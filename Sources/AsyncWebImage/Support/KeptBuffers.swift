import DequeModule

/// The arrays that a pool keeps, in the order in which they were added.
///
/// A pure value. Callers might still use an array that is kept here; taking the oldest one first gives them the most
/// time to release it.
struct KeptBuffers {
    private struct Buffer {
        let bytes: [UInt8]
        // Read from the array, it would cause a cache miss for each one that does not fit.
        let capacity: Int
    }

    private let limits: BufferPool.Limits
    private var buffers: Deque<Buffer> = []
    /// The total capacity of the arrays, in bytes.
    private(set) var byteCount = 0

    /// Creates an empty collection.
    init(_ limits: BufferPool.Limits) {
        self.limits = limits
    }

    /// Adds an array, and returns the arrays that no longer fit: the oldest ones.
    mutating func insert(_ bytes: [UInt8]) -> [[UInt8]] {
        let capacity = bytes.capacity
        buffers.append(Buffer(bytes: bytes, capacity: capacity))
        byteCount += capacity
        return removeOldest(capacity: byteCount - limits.byteCount)
    }

    /// Removes and returns the oldest array with the capacity that does not exceed it too much; `nil` if there is none.
    mutating func remove(capacity: Int) -> [UInt8]? {
        let suitable = capacity...capacity + Int(Double(capacity) * limits.maximumExcess)
        guard let index = buffers.firstIndex(where: { suitable.contains($0.capacity) }) else { return nil }
        let buffer = buffers.remove(at: index)
        byteCount -= buffer.capacity
        return buffer.bytes
    }

    /// Removes and returns all arrays.
    mutating func removeAll() -> [[UInt8]] { removeOldest(capacity: byteCount) }

    /// Removes and returns the oldest arrays, with this capacity in total, or all of them if they have less.
    mutating func removeOldest(capacity: Int) -> [[UInt8]] {
        var removed: [[UInt8]] = []
        var remaining = capacity
        while remaining > 0, let oldest = buffers.popFirst() {
            byteCount -= oldest.capacity
            remaining -= oldest.capacity
            removed.append(oldest.bytes)
        }
        return removed
    }
}
