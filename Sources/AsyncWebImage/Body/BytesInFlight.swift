import Synchronization
import Threading

/// The bytes of body that all downloads of a loader hold together, against the limits that keep further ones from starting,
/// and those that run from growing.
///
/// At the limit no further download starts. At one and a half times as much, bodies that hold more than their share, which
/// all together have the other half, wait, but for one. So no more is held than twice the limit and one body.
final class BytesInFlight: Sendable {
    private let bytes = Atomic(0)
    private let limit: Atomic<Int>
    private let share: Atomic<Int>
    private let lastID = Atomic<BodyCrowd.ID>(0)
    private let crowd = Locked(BodyCrowd())
    private let onRoom = Locked<(@Sendable () -> Void)?>(nil)

    /// No bytes yet; `transfers` is how many transfers may run at a time.
    init(limit: Int = .max, transfers: Int = 1) {
        let limit = Self.usable(limit)
        self.limit = Atomic(limit)
        share = Atomic(Self.share(of: limit, transfers))
    }

    /// Bytes that are held.
    var count: Int { bytes.load(ordering: .relaxed) }

    /// Whether further downloads may start.
    ///
    /// Once it is false, the call of ``onRoom(_:)`` comes when it is true again.
    var hasRoom: Bool {
        bytes.load(ordering: .sequentiallyConsistent) < limit.load(ordering: .relaxed)
    }

    /// What to call when there is room again, or a body that waits may grow: ``letBodiesGrow()`` is to follow.
    ///
    /// Called where memory is given back, perhaps under a lock.
    func onRoom(_ call: @escaping @Sendable () -> Void) {
        onRoom.withLock { $0 = call }
    }

    /// To be followed by a look at ``hasRoom``, and ``letBodiesGrow()``.
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
        tellOfRoom()
    }

    private func tellOfRoom() { onRoom.withLock { $0 }?() }

    /// One that can be multiplied.
    private static func usable(_ limit: Int) -> Int { min(max(1, limit), .max / 4) }

    private static func share(of limit: Int, _ transfers: Int) -> Int { max(1, limit / 2 / max(1, transfers)) }
}

// MARK: - Bodies that wait

extension BytesInFlight {
    /// Returns an identity for a body, higher than those of older ones.
    func newID() -> BodyCrowd.ID { lastID.wrappingAdd(1, ordering: .relaxed).newValue }

    /// Whether a body that holds so much has to ask ``admits(_:orElse:)`` before it grows.
    func isCrowded(for held: Int) -> Bool { isCrowded && held >= share.load(ordering: .relaxed) }

    private var isCrowded: Bool {
        let limit = limit.load(ordering: .relaxed)
        return bytes.load(ordering: .sequentiallyConsistent) >= limit + limit / 2
    }

    /// Returns whether a body may grow; if not, `goOn` is called when it may.
    func admits(_ id: BodyCrowd.ID, orElse goOn: @escaping BodyCrowd.GoOn) -> Bool {
        // There may be room again; if there is from now on, the others are let go on after this one has got in line.
        crowd.withLock { crowd in !isCrowded || crowd.admit(id, orElse: goOn) }
    }

    /// A body does not grow for the time being, or ever: the next one may.
    func leave(_ id: BodyCrowd.ID) {
        if crowd.withLock({ $0.leave(id) }) { tellOfRoom() }
    }

    /// Lets the bodies go on that may: all where there is room, else one.
    ///
    /// Not to be called under the lock of a body.
    func letBodiesGrow() {
        let calls = crowd.withLock { crowd in
            hasRoom ? crowd.takeAll() : crowd.next().map { [$0] } ?? []
        }
        for goOn in calls { goOn() }
    }
}
