/// Every download that has callers or holds a slot.
///
/// Its states are in an array, where they are read and changed in place: a dictionary would copy one for each look at it.
struct DownloadTable {
    typealias ID = DownloadMachine.ID
    /// A place in the table; void once a download is removed.
    typealias Index = Int

    private var indices: [ID: Index] = [:]
    /// By index; changed in place only.
    ///
    /// No accessor of ours stands before it: with Swift 6.3, a field of what `_read` yields is read after the access.
    var states: [DownloadMachine.State] = []

    var isEmpty: Bool { states.isEmpty }
    var count: Int { states.count }
    /// The downloads, in no order.
    var ids: [ID] { states.map(\.id) }

    func index(of id: ID) -> Index? { indices[id] }

    /// A download by its identity; nil if there is none.
    subscript(id id: ID) -> DownloadMachine.State? { indices[id].map { states[$0] } }

    mutating func insert(_ state: DownloadMachine.State) -> Index {
        indices[state.id] = states.count
        states.append(state)
        return states.count - 1
    }

    /// Removes a download; the last one takes its place.
    mutating func remove(at index: Index) {
        indices[states[index].id] = nil
        let last = states.removeLast()
        guard index < states.count else { return }
        states[index] = last
        indices[last.id] = index
    }
}
