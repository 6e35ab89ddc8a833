import DequeModule

/// Shares a fixed number of bytes among those who ask, in the order they ask.
///
/// A pure value. Who asks for a lot is not overtaken for ever by those who ask for little: nobody passes the head of
/// the line.
struct MemoryBudget {
    typealias ID = UInt64

    /// What becomes of a wish for memory.
    enum Answer: Equatable {
        case granted
        case waiting
        /// More than the whole budget.
        case impossible
    }

    let limit: Int
    private(set) var used = 0
    private var line: Deque<(id: ID, bytes: Int)> = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Asks for `bytes`.
    mutating func request(_ bytes: Int, id: ID) -> Answer {
        guard bytes <= limit else { return .impossible }
        guard line.isEmpty, bytes <= limit - used else {
            line.append((id, bytes))
            return .waiting
        }
        used += bytes
        return .granted
    }

    /// Gives `bytes` back; answers who has got its memory now.
    mutating func release(_ bytes: Int) -> [ID] {
        used -= bytes
        return grant()
    }

    /// Takes a wish back that is still in line; nil if it is not, else who has got its memory now.
    mutating func withdraw(_ id: ID) -> [ID]? {
        guard let index = line.firstIndex(where: { $0.id == id }) else { return nil }
        line.remove(at: index)
        return grant()
    }

    private mutating func grant() -> [ID] {
        var granted: [ID] = []
        while let first = line.first, first.bytes <= limit - used {
            line.removeFirst()
            used += first.bytes
            granted.append(first.id)
        }
        return granted
    }
}
