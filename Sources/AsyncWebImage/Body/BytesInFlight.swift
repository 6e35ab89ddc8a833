import Synchronization
import Threading

/// The number of body bytes held by all downloads of a loader, and the limits from which no further downloads start
/// and active ones stop growing.
///
/// At the limit, no further download starts. At one and a half times the limit, bodies that hold more than an equal
/// share of half of the limit wait, except for one. The total is thus at most twice the limit plus one body.
final class BytesInFlight: Sendable {
    private let bytes = Atomic(0)
    private let limit: Atomic<Int>
    private let share: Atomic<Int>
    private let lastID = Atomic<GrowthQueue.ID>(0)
    private let queue = Locked(GrowthQueue())
    private let observer = Locked(Observer())

    private struct Observer {
        var onCapacity: (@Sendable () -> Void)?
    }

    /// Creates an empty count; `transfers` is the maximum number of concurrent transfers.
    init(limit: Int = .max, transfers: Int = 1) {
        let limit = Self.usable(limit)
        self.limit = Atomic(limit)
        share = Atomic(Self.share(of: limit, transfers))
    }

    /// The number of bytes held.
    var count: Int { bytes.load(ordering: .relaxed) }

    /// A Boolean value that indicates whether further downloads may start.
    ///
    /// After it has been false, the closure of ``onCapacity(_:)`` is called when it becomes true again.
    var hasCapacity: Bool {
        bytes.load(ordering: .sequentiallyConsistent) < limit.load(ordering: .relaxed)
    }

    /// Sets a closure that is called when memory is available again, or a waiting body may grow; it must lead to a
    /// call of ``letBodiesGrow()``.
    ///
    /// The closure is called where memory is released, possibly under a lock.
    func onCapacity(_ call: @escaping @Sendable () -> Void) {
        observer.withLock { $0.onCapacity = call }
    }

    /// Sets the limit; check ``hasCapacity`` and call ``letBodiesGrow()`` afterward.
    func setLimit(_ limit: Int, transfers: Int) {
        let limit = Self.usable(limit)
        share.store(Self.share(of: limit, transfers), ordering: .relaxed)
        self.limit.store(limit, ordering: .sequentiallyConsistent)
    }

    func add(_ count: Int) {
        bytes.wrappingAdd(count, ordering: .relaxed)
    }

    func remove(_ count: Int) {
        let (before, after) = bytes.wrappingSubtract(count, ordering: .sequentiallyConsistent)
        let limit = limit.load(ordering: .sequentiallyConsistent)
        guard before >= limit, after < limit else { return }
        notifyCapacity()
    }

    private func notifyCapacity() { observer.withLock { $0.onCapacity }?() }

    /// Returns a limit that can be multiplied.
    private static func usable(_ limit: Int) -> Int { min(max(1, limit), .max / 4) }

    private static func share(of limit: Int, _ transfers: Int) -> Int { max(1, limit / 2 / max(1, transfers)) }
}

// MARK: - Waiting bodies

extension BytesInFlight {
    /// Returns an identity for a body, higher than those of older ones.
    func newID() -> GrowthQueue.ID { lastID.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Returns whether a body of this size must call ``admits(_:orElse:)`` before it grows.
    func isOverBudget(for held: Int) -> Bool { isOverBudget && held >= share.load(ordering: .relaxed) }

    private var isOverBudget: Bool {
        let limit = limit.load(ordering: .relaxed)
        return bytes.load(ordering: .sequentiallyConsistent) >= limit + limit / 2
    }

    /// Returns whether a body may grow; if not, `resume` is called when it may.
    func admits(_ id: GrowthQueue.ID, orElse resume: @escaping GrowthQueue.Resume) -> Bool {
        // Memory can be available again; if it becomes available after this point, this body is among those resumed.
        queue.withLock { queue in !isOverBudget || queue.admit(id, orElse: resume) }
    }

    /// Records that a body does not grow for now or permanently: the next one may.
    func leave(_ id: GrowthQueue.ID) {
        if queue.withLock({ $0.leave(id) }) { notifyCapacity() }
    }

    /// Resumes the bodies that may grow: all if there is memory, otherwise one.
    ///
    /// Do not call this method while holding the lock of a body.
    func letBodiesGrow() {
        let calls = queue.withLock { queue in
            hasCapacity ? queue.takeAll() : queue.next().map { [$0] } ?? []
        }
        for resume in calls { resume() }
    }
}
