/// The results of lines that a run does not answer: those of the shards that are complete when it reaches them.
///
/// The markers of the shards contain their numbers, so that no records are read.
struct EarlierResults: Sendable, Equatable {
    /// The numbers of answers.
    private(set) var statistics = BatchStatistics()
    /// The number of lines of shards whose markers have no such numbers.
    private(set) var unknown = 0
    /// The number of lines that belong to other parts, or to shards that other processes were writing.
    var skipped = 0
    /// The number of shards some of whose lines failed with retryable errors, but it is unknown which ones.
    var unlistedShards = 0

    /// Adds the lines of a complete shard.
    mutating func add(_ marker: ShardMarker) {
        if let statistics = marker.statistics { add(statistics) } else { unknown += marker.input.count }
    }

    /// Adds the records of a complete shard that remain while its other lines are answered again.
    mutating func add(_ standing: BatchStatistics) { statistics.add(standing) }
}
