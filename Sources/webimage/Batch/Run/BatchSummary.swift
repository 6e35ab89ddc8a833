/// The results of a list at the end of a run, as far as they are known and stored.
struct BatchSummary: Sendable, Equatable {
    /// The numbers of answers of this run; with a folder, of those in complete shards.
    var answered: BatchStatistics
    /// The results of shards that were complete before; `nil` for a stream.
    var earlier: EarlierResults?
    /// The number of answers of this run that are not stored, because their shards are not complete.
    var incomplete = 0
    /// The numbers of lines of the list, as far as it has been read.
    var lines = ListCounts()

    /// The numbers of all answers.
    var total: BatchStatistics {
        var total = answered
        if let earlier { total.add(earlier.statistics) }
        return total
    }

    /// A Boolean value that indicates whether an image failed, or may have failed.
    var hasFailures: Bool { total.failures > 0 || (earlier?.unknown ?? 0) > 0 }

    /// The summary as a JSON object.
    var object: JSONObject {
        var object = JSONObject()
        total.addCounts(to: &object)
        object.add("list", raw: lines.object.bytes)
        guard let earlier else { return object }
        var counts = JSONObject()
        earlier.statistics.addCounts(to: &counts)
        object.add("earlier", raw: counts.bytes)
        object.add("unknown_count", earlier.unknown)
        object.add("skipped_count", earlier.skipped)
        object.add("incomplete_count", incomplete)
        return object
    }

    /// A sentence about the lines whose results are unknown; `nil` if there are none.
    var unknownResults: String? {
        guard let count = earlier?.unknown, count > 0 else { return nil }
        return "the results of \(count) \(count == 1 ? "line" : "lines") of an earlier run are unknown: the markers of "
            + "the shards contain no counts"
    }

    /// A sentence about the failed lines that are unknown; `nil` if there are none.
    var unknownFailures: String? {
        guard let count = earlier?.unlistedShards, count > 0 else { return nil }
        return "--failed-to lacks the failed lines of \(count) complete \(count == 1 ? "shard" : "shards"): neither a "
            + "marker nor a file of records tells which lines failed"
    }
}
