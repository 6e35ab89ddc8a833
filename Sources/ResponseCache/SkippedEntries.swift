/// The keys of entries that a cache does not use for some time, because they are damaged and cannot be removed, or their
/// bodies could not be read to the end.
struct SkippedEntries: Sendable {
    /// The time for which an entry is skipped, in seconds.
    static let lifetime = 60
    /// The maximum number of entries; before it is exceeded, all are used again.
    static let maximumCount = 1_024

    /// The times since which the entries are skipped, in seconds since 1970.
    private var starts: [ResponseStorageKey: Int] = [:]

    var isEmpty: Bool { starts.isEmpty }

    /// Returns whether an entry is skipped at `time`.
    func contains(_ key: ResponseStorageKey, at time: Int) -> Bool {
        // The clock can have been set back.
        starts[key].map { (0..<Self.lifetime).contains(time - $0) } ?? false
    }

    /// Skips an entry from `time` on.
    mutating func insert(_ key: ResponseStorageKey, at time: Int) {
        if starts.count >= Self.maximumCount { starts = [:] }
        starts[key] = time
    }

    /// Uses an entry again.
    mutating func remove(_ key: ResponseStorageKey) { starts[key] = nil }

    /// Uses all entries again.
    mutating func removeAll() { starts = [:] }
}
