import Synchronization
import Threading

/// The bytes of body that all downloads of a loader hold together, against the limit that keeps further ones from starting.
final class BytesInFlight: Sendable {
    private let bytes = Atomic(0)
    private let limit: Atomic<Int>
    private let onRoom = Locked<(@Sendable () -> Void)?>(nil)

    init(limit: Int = .max) {
        self.limit = Atomic(max(1, limit))
    }

    /// Bytes that are held.
    var count: Int { bytes.load(ordering: .relaxed) }

    /// Whether further downloads may start.
    ///
    /// Once it is false, the call of ``onRoom(_:)`` comes when it is true again.
    var hasRoom: Bool {
        bytes.load(ordering: .sequentiallyConsistent) < limit.load(ordering: .relaxed)
    }

    /// What to call when there is room again.
    func onRoom(_ call: @escaping @Sendable () -> Void) {
        onRoom.withLock { $0 = call }
    }

    /// To be followed by a look at ``hasRoom``.
    func setLimit(_ limit: Int) {
        self.limit.store(max(1, limit), ordering: .sequentiallyConsistent)
    }

    func add(_ count: Int) {
        bytes.wrappingAdd(count, ordering: .relaxed)
    }

    func remove(_ count: Int) {
        let (before, after) = bytes.wrappingSubtract(count, ordering: .sequentiallyConsistent)
        let limit = limit.load(ordering: .sequentiallyConsistent)
        guard before >= limit, after < limit else { return }
        onRoom.withLock { $0 }?()
    }
}
