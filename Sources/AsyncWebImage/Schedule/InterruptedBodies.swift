import ResponseCache

/// The partial bodies of interrupted downloads, kept for later requests.
///
/// A pure value. The oldest bodies are dropped first.
struct InterruptedBodies {
    static let maximumCount = 64

    /// The maximum number of bytes kept; lowering it drops the oldest bodies.
    var limit: Int {
        didSet { dropOldest() }
    }
    private(set) var bytes = 0
    /// The bodies, oldest first.
    private var entries: [(key: FetchKey, resumption: Resumption)] = []

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Stores a partial body, replacing another one of the same request.
    mutating func insert(_ resumption: Resumption, for key: FetchKey) {
        _ = take(key)
        guard resumption.offset >= Resumption.minimumBytes, resumption.offset <= limit, resumption.stored != nil else {
            return
        }
        var resumption = resumption
        resumption.stored = resumption.stored?.map(\.withLittleUnusedCapacity)
        entries.append((key, resumption))
        bytes += resumption.offset
        dropOldest()
    }

    /// Removes and returns the partial body for a request, if any.
    mutating func take(_ key: FetchKey) -> Resumption? {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        let resumption = entries.remove(at: index).resumption
        bytes -= resumption.offset
        return resumption
    }

    /// Removes the partial bodies of a response.
    mutating func removeAll(for key: FetchKey) {
        entries.removeAll { $0.key.hasSameResponse(as: key) }
        bytes = entries.reduce(0) { $0 + $1.resumption.offset }
    }

    private mutating func dropOldest() {
        while !entries.isEmpty, bytes > limit || entries.count > Self.maximumCount {
            bytes -= entries.removeFirst().resumption.offset
        }
    }
}

extension [UInt8] {
    /// The same bytes in an array whose unused capacity, which is not counted, is at most an eighth of them.
    fileprivate var withLittleUnusedCapacity: [UInt8] {
        capacity - count > count / 8 ? [UInt8](exactCopyOf: self) : self
    }
}
