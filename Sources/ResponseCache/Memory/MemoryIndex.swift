import DequeModule

/// The entries of a storage in memory; the least recently used are removed first.
///
/// A pure value, which returns the keys of the entries that it evicts.
struct MemoryIndex<Content: Sendable>: Sendable {
    private struct Entry {
        let size: Int
        let content: Content
        var use: Int
    }

    private(set) var size = 0
    private var entries: [ResponseStorageKey: Entry] = [:]
    /// The keys by resource, oldest first.
    private var keysOfResources: [String: [ResponseStorageKey]] = [:]
    /// All uses in order; those that are not an entry's last use are skipped.
    private var uses: Deque<(key: ResponseStorageKey, use: Int)> = []
    private var lastUse = 0

    var count: Int { entries.count }

    var keys: [ResponseStorageKey] { Array(entries.keys) }

    func content(_ key: ResponseStorageKey) -> Content? { entries[key]?.content }

    /// Returns the keys of the entries of a resource, newest first.
    func keys(of resource: String) -> [ResponseStorageKey] { keysOfResources[resource]?.reversed() ?? [] }

    /// Records the use of an entry.
    mutating func touch(_ key: ResponseStorageKey) {
        guard entries[key] != nil else { return }
        lastUse += 1
        entries[key]?.use = lastUse
        uses.append((key, lastUse))
        if uses.count > 2 * entries.count + 64 { uses.removeAll { entries[$0.key]?.use != $0.use } }
    }

    /// Inserts an entry, replacing one with the same key.
    mutating func insert(_ key: ResponseStorageKey, size: Int, _ content: Content) {
        _ = remove(key)
        entries[key] = Entry(size: size, content: content, use: 0)
        self.size += size
        keysOfResources[key.resource, default: []].append(key)
        touch(key)
    }

    /// Removes the oldest entries until the others take at most `limit` bytes; returns their keys.
    mutating func evict(to limit: Int) -> [ResponseStorageKey] {
        var removed: [ResponseStorageKey] = []
        while size > limit, let (key, use) = uses.popFirst() {
            guard entries[key]?.use == use else { continue }
            _ = remove(key)
            removed.append(key)
        }
        return removed
    }

    mutating func remove(_ key: ResponseStorageKey) -> Bool {
        guard let entry = entries.removeValue(forKey: key) else { return false }
        size -= entry.size
        keysOfResources[key.resource]?.removeAll { $0 == key }
        if keysOfResources[key.resource]?.isEmpty == true { keysOfResources[key.resource] = nil }
        return true
    }

    mutating func removeAll() { self = MemoryIndex() }
}
