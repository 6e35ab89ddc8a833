import ResponseCache

/// The beginnings of bodies whose download was given up, for whoever wants them next.
///
/// A pure value. The oldest are dropped first.
struct InterruptedBodies {
    private static let countLimit = 64

    /// The maximum number of bytes that are kept; lowering it drops the oldest bodies.
    var limit: Int {
        didSet { dropOldest() }
    }
    private(set) var bytes = 0
    /// The oldest first.
    private var entries: [(key: FetchKey, resumption: Resumption)] = []

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Keeps the beginning of a body, in place of another of the same request.
    mutating func insert(_ resumption: Resumption, for key: FetchKey) {
        _ = take(key)
        guard resumption.offset >= Resumption.minimumBytes, resumption.offset <= limit, resumption.stored != nil else {
            return
        }
        entries.append((key, resumption))
        bytes += resumption.offset
        dropOldest()
    }

    /// Hands out what there is of a body, and keeps it no longer.
    mutating func take(_ key: FetchKey) -> Resumption? {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        let resumption = entries.remove(at: index).resumption
        bytes -= resumption.offset
        return resumption
    }

    private mutating func dropOldest() {
        while !entries.isEmpty, bytes > limit || entries.count > Self.countLimit {
            bytes -= entries.removeFirst().resumption.offset
        }
    }
}
