/// The memory that one body takes of that of all bodies.
struct BodyMemory {
    private let bytesInFlight: BytesInFlight
    /// The identity of the body among those that wait for memory.
    private let id: GrowthQueue.ID
    private var count = 0
    /// A Boolean value that indicates whether others might have to be notified that the body no longer grows.
    private var isQueued = false

    init(_ bytesInFlight: BytesInFlight) {
        self.bytesInFlight = bytesInFlight
        id = bytesInFlight.newID()
    }

    /// A Boolean value that indicates whether the body is larger than allowed without a request for memory.
    var isOverBudget: Bool { bytesInFlight.isOverBudget(for: count) }

    /// A Boolean value that indicates whether no further download starts.
    var isAtLimit: Bool { !bytesInFlight.hasCapacity }

    /// Notes that the body holds `count` bytes.
    mutating func hold(_ count: Int) {
        let change = count - self.count
        self.count = count
        if change > 0 { bytesInFlight.add(change) } else if change < 0 { bytesInFlight.remove(-change) }
    }

    /// Returns whether the body may grow; if not, `resume` is called when it may.
    mutating func admitsGrowth(orElse resume: @escaping GrowthQueue.Resume) -> Bool {
        isQueued = true
        return bytesInFlight.admits(id, orElse: resume)
    }

    /// Passes this body's turn to another one.
    mutating func leaveQueue() {
        guard isQueued else { return }
        isQueued = false
        bytesInFlight.leave(id)
    }
}
