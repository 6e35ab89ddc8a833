/// Every download that has callers or holds a slot.
///
/// States are in an array and accessed in place: a dictionary would copy a state for each access.
struct DownloadTable {
    typealias ID = DownloadMachine.ID
    /// An index in the table; invalid once any download is removed.
    typealias Index = Int

    private var indices: [ID: Index] = [:]
    /// The states by index; changed only in place.
    ///
    /// Not wrapped by an accessor: with Swift 6.3, a field of the value yielded by `_read` is read after the access.
    var states: [DownloadMachine.State] = []

    var isEmpty: Bool { states.isEmpty }
    var count: Int { states.count }
    /// The downloads, unordered.
    var ids: [ID] { states.map(\.id) }

    func index(of id: ID) -> Index? { indices[id] }

    /// The download with an identity; `nil` if there is none.
    subscript(id id: ID) -> DownloadMachine.State? { indices[id].map { states[$0] } }

    mutating func insert(_ state: DownloadMachine.State) -> Index {
        indices[state.id] = states.count
        states.append(state)
        return states.count - 1
    }

    /// Removes a download; the last one takes its index.
    mutating func remove(at index: Index) {
        indices[states[index].id] = nil
        let last = states.removeLast()
        guard index < states.count else { return }
        states[index] = last
        indices[last.id] = index
    }
}
