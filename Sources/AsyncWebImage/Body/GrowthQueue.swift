/// The bodies that wait for memory, and the one that may grow in the meantime.
///
/// A pure value. One body may grow regardless of the memory the others hold, so that there is always one whose end
/// releases memory; the next is the oldest waiting one.
struct GrowthQueue {
    /// The identity of a body; older ones have lower numbers.
    typealias ID = UInt64
    /// A closure that resumes the transfer of a body.
    typealias Resume = @Sendable () -> Void

    /// The body that may grow; `nil` if there is none, even if others wait.
    private(set) var growing: ID?
    private var waiting: [ID: Resume] = [:]

    /// Returns whether a body may grow; if not, it waits, and `resume` is called when it may.
    mutating func admit(_ id: ID, orElse resume: @escaping Resume) -> Bool {
        if growing == nil { growing = id }
        waiting[id] = growing == id ? nil : resume
        return growing == id
    }

    /// Removes a body that has ended, or is delayed for another reason.
    ///
    /// Returns whether others wait and ``next()`` can return one that may grow instead.
    mutating func leave(_ id: ID) -> Bool {
        waiting[id] = nil
        if growing == id { growing = nil }
        return growing == nil && !waiting.isEmpty
    }

    /// Lets the oldest waiting body grow, unless another one may.
    mutating func next() -> Resume? {
        guard growing == nil, let oldest = waiting.keys.min() else { return nil }
        growing = oldest
        return waiting.removeValue(forKey: oldest)
    }

    /// Removes and returns the closures of all waiting bodies, because memory is available.
    mutating func takeAll() -> [Resume] {
        let all = Array(waiting.values)
        (growing, waiting) = (nil, [:])
        return all
    }
}
