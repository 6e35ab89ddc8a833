import DequeModule

/// The entries of a cache in memory; the least recently used are removed first.
///
/// A pure value, which returns the names of the entries that it evicts.
struct CacheIndex<Content: Sendable>: Sendable {
    private struct Entry {
        let size: Int
        let content: Content
        var use: Int
    }

    private(set) var size = 0
    private var entries: [String: Entry] = [:]
    /// The names by prefix, oldest first.
    private var variants: [Substring: [String]] = [:]
    /// All uses in order; those that are not an entry's last use are skipped.
    private var uses: Deque<(name: String, use: Int)> = []
    private var lastUse = 0

    var count: Int { entries.count }

    func content(_ name: String) -> Content? { entries[name]?.content }

    /// Returns the entries whose names begin with `prefix`, newest first.
    func names(_ prefix: String) -> [String] { variants[prefix[...]]?.reversed() ?? [] }

    /// Records the use of an entry.
    mutating func touch(_ name: String) {
        guard entries[name] != nil else { return }
        lastUse += 1
        entries[name]?.use = lastUse
        uses.append((name, lastUse))
        if uses.count > 2 * entries.count + 64 { uses.removeAll { entries[$0.name]?.use != $0.use } }
    }

    /// Inserts an entry, replacing one with the same name.
    mutating func insert(_ name: String, size: Int, _ content: Content) {
        _ = remove(name)
        entries[name] = Entry(size: size, content: content, use: 0)
        self.size += size
        variants[name.prefix32, default: []].append(name)
        touch(name)
    }

    /// Removes the oldest entries until the others take at most `limit` bytes; returns their names.
    mutating func evict(to limit: Int) -> [String] {
        var removed: [String] = []
        while size > limit, let (name, use) = uses.popFirst() {
            guard entries[name]?.use == use else { continue }
            _ = remove(name)
            removed.append(name)
        }
        return removed
    }

    mutating func remove(_ name: String) -> Bool {
        guard let entry = entries.removeValue(forKey: name) else { return false }
        size -= entry.size
        let prefix = name.prefix32
        variants[prefix]?.removeAll { $0 == name }
        if variants[prefix]?.isEmpty == true { variants[prefix] = nil }
        return true
    }

    mutating func removeAll() {
        self = CacheIndex()
    }

    var allNames: [String] { Array(entries.keys) }
}

extension String {
    fileprivate var prefix32: Substring { prefix(32) }
}
