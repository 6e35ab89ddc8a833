/// The shard and the row of each line, which follow from the list alone, and the shards that this process makes.
struct ShardPlan: Sendable, Equatable {
    /// A part of several processes.
    struct Part: Sendable, Equatable {
        /// The number of the part, from 0.
        let number: Int
        let count: Int
    }

    /// The unit that belongs to a part as a whole.
    enum Unit: Sendable, Equatable {
        /// Parts take turns with shards.
        case shard
        /// All lines with one host belong to one part.
        case host(HostParts)
    }

    let keys: SampleKeys
    /// The part of this process; `nil` for all shards.
    var part: Part?
    var unit = Unit.shard
    /// The number of the first shard of the list.
    var firstShard = 0
    /// The number of lines of this part that have been counted.
    private var count = 0

    init(keys: SampleKeys, part: Part? = nil, unit: Unit = .shard) {
        self.keys = keys
        self.part = part
        self.unit = unit
    }

    /// Returns the position of the next line of the list, which determines its shard and row; `nil` if the line belongs
    /// to another part.
    ///
    /// If whole shards belong to parts, it is the position in the list, and otherwise that among the lines of the part.
    mutating func position(of entry: ListEntry) -> Int? {
        guard let part, case .host(let hosts) = unit else { return entry.index }
        guard hosts.part(of: entry) == part.number else { return nil }
        defer { count += 1 }
        return count
    }

    /// Returns the shard of the line at this position.
    func shard(at position: Int) -> Int {
        let number = position / keys.samplesPerShard
        guard let part, case .host = unit else { return firstShard + number }
        return firstShard + part.number + number * part.count
    }

    /// Returns the row of the line at this position in its shard.
    func row(at position: Int) -> Int { position % keys.samplesPerShard }

    /// Returns whether this process makes the shard.
    func includes(shard: Int) -> Bool {
        part.map { (shard - firstShard) % $0.count == $0.number } ?? true
    }
}
