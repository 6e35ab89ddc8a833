import DequeModule

/// Distributes a fixed number of bytes in the order of the requests.
///
/// A pure value. Small requests never overtake the first waiting one, so that large requests cannot starve.
struct MemoryBudget {
    typealias ID = UInt64

    /// The result of a request for memory.
    enum Answer: Equatable {
        case granted
        case waiting
        /// The request exceeds the limit for a single one.
        case impossible
    }

    let limit: Int
    /// The maximum number of bytes of a single request; one that exceeds ``limit`` is granted while no other holds bytes.
    let maximumRequest: Int
    private(set) var used = 0
    private var line: Deque<(id: ID, bytes: Int)> = []

    init(limit: Int, maximumRequest: Int? = nil) {
        self.limit = limit
        self.maximumRequest = maximumRequest ?? limit
    }

    /// Requests `bytes` bytes.
    mutating func request(_ bytes: Int, id: ID) -> Answer {
        guard bytes <= maximumRequest else { return .impossible }
        guard line.isEmpty, fits(bytes) else {
            line.append((id, bytes))
            return .waiting
        }
        used += bytes
        return .granted
    }

    /// Returns `bytes` bytes to the budget; returns the requests that are granted as a result.
    mutating func release(_ bytes: Int) -> [ID] {
        used -= bytes
        return grant()
    }

    /// Withdraws a waiting request; returns the requests that are granted as a result, or `nil` if it was not
    /// waiting.
    mutating func withdraw(_ id: ID) -> [ID]? {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return nil }
        line.remove(at: index)
        return grant()
    }

    private func fits(_ bytes: Int) -> Bool { used == 0 || bytes <= limit - used }

    private mutating func grant() -> [ID] {
        var granted: [ID] = []
        while let first = line.first, fits(first.bytes) {
            line.removeFirst()
            used += first.bytes
            granted.append(first.id)
        }
        return granted
    }
}
