/// The bodies that wait for memory, and the one that may grow meanwhile.
///
/// A pure value. One may grow whatever the others hold, so that there is always one whose end gives memory back; the next
/// is the oldest of those that wait.
struct BodyCrowd {
    /// The identity of a body; older ones have lower numbers.
    typealias ID = UInt64
    /// Makes the transfer of a body go on.
    typealias GoOn = @Sendable () -> Void

    /// The body that may grow; nil if there is none, though others may wait.
    private(set) var growing: ID?
    private var waiting: [ID: GoOn] = [:]

    /// Returns whether a body may grow; if not, it waits, and is told by `goOn` when it may.
    mutating func admit(_ id: ID, orElse goOn: @escaping GoOn) -> Bool {
        if growing == nil { growing = id }
        waiting[id] = growing == id ? nil : goOn
        return growing == id
    }

    /// Takes a body out that has ended, or that something else holds up.
    ///
    /// Returns whether others wait and ``next()`` has one that may grow in its place.
    mutating func leave(_ id: ID) -> Bool {
        waiting[id] = nil
        if growing == id { growing = nil }
        return growing == nil && !waiting.isEmpty
    }

    /// Lets the oldest of those that wait grow, unless another may.
    mutating func next() -> GoOn? {
        guard growing == nil, let oldest = waiting.keys.min() else { return nil }
        growing = oldest
        return waiting.removeValue(forKey: oldest)
    }

    /// Lets all go on: there is memory again.
    mutating func takeAll() -> [GoOn] {
        let all = Array(waiting.values)
        (growing, waiting) = (nil, [:])
        return all
    }
}
