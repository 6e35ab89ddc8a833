/// The shard and the row of each line, which follow from the list alone, and the shards that this process makes.
struct ShardPlan: Sendable, Equatable {
    /// A part of several processes.
    struct Part: Sendable, Equatable {
        /// The number of the part, from 0.
        let number: Int
        let count: Int
    }

    let keys: SampleKeys
    /// The part of this process; `nil` for all shards.
    var part: Part?

    /// Returns the shard of the line with this index.
    func shard(ofLine index: Int) -> Int { index / keys.samplesPerShard }

    /// Returns the row of the line with this index in its shard.
    func row(ofLine index: Int) -> Int { index % keys.samplesPerShard }

    /// Returns whether this process makes the shard.
    func includes(shard: Int) -> Bool {
        part.map { shard % $0.count == $0.number } ?? true
    }
}
