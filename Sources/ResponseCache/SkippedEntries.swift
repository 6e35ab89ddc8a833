/// The names of entries that a cache does not use for some time, because they are damaged and cannot be removed, or their
/// bodies could not be read to the end.
struct SkippedEntries: Sendable {
    /// The time for which an entry is skipped, in seconds.
    static let lifetime = 60
    /// The maximum number of entries; before it is exceeded, all are used again.
    static let maximumCount = 1_024

    /// The times since which the entries are skipped, in seconds since 1970.
    private var starts: [String: Int] = [:]

    var isEmpty: Bool { starts.isEmpty }

    /// Returns whether an entry is skipped at `time`.
    func contains(_ name: String, at time: Int) -> Bool {
        // The clock can have been set back.
        starts[name].map { (0..<Self.lifetime).contains(time - $0) } ?? false
    }

    /// Skips an entry from `time` on.
    mutating func insert(_ name: String, at time: Int) {
        if starts.count >= Self.maximumCount { starts = [:] }
        starts[name] = time
    }

    /// Uses an entry again.
    mutating func remove(_ name: String) { starts[name] = nil }

    /// Uses all entries again.
    mutating func removeAll() { starts = [:] }
}
