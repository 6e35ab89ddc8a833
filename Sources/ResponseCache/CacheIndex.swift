import DequeModule

/// What a cache holds, the least recently used first out.
///
/// A pure value: it says what to remove, others do it.
struct CacheIndex<Content: Sendable>: Sendable {
    private struct Entry {
        let size: Int
        let content: Content
        var use: Int
    }

    /// Most entries of one URL that differ in what `Vary` names.
    private static var variantLimit: Int { 8 }

    let limit: Int
    private(set) var size = 0
    private var entries: [String: Entry] = [:]
    /// Names by what they begin with, the oldest first.
    private var variants: [Substring: [String]] = [:]
    /// Every use in its order; those that are not an entry's last are passed over.
    private var uses: Deque<(name: String, use: Int)> = []
    private var lastUse = 0
    private var firstUse = 0

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { entries.count }

    func content(_ name: String) -> Content? { entries[name]?.content }

    /// The entries whose names begin with `prefix`, the newest first.
    func names(_ prefix: String) -> [String] { variants[prefix[...]]?.reversed() ?? [] }

    /// Notes that an entry was used.
    mutating func touch(_ name: String) {
        guard entries[name] != nil else { return }
        lastUse += 1
        entries[name]?.use = lastUse
        uses.append((name, lastUse))
        if uses.count > 2 * entries.count + 64 { uses.removeAll { entries[$0.name]?.use != $0.use } }
    }

    /// Takes an entry in, in place of one of the same name; returns the names of those that have to go.
    mutating func insert(_ name: String, size: Int, _ content: Content) -> [String] {
        _ = remove(name)
        add(name, Entry(size: size, content: content, use: 0))
        touch(name)
        var removed: [String] = []
        if let oldest = variants[name.prefix32]?.first, (variants[name.prefix32]?.count ?? 0) > Self.variantLimit {
            removed.append(oldest)
            _ = remove(oldest)
        }
        return removed + evict()
    }

    /// Takes an entry in that is older than all others, if it is not known.
    mutating func insertOldest(_ name: String, size: Int, _ content: Content) {
        guard entries[name] == nil else { return }
        firstUse -= 1
        add(name, Entry(size: size, content: content, use: firstUse), isOldest: true)
        uses.prepend((name, firstUse))
    }

    /// Lets go of the oldest until all others fit.
    mutating func evict() -> [String] {
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
        self = CacheIndex(limit: limit)
    }

    var allNames: [String] { Array(entries.keys) }

    private mutating func add(_ name: String, _ entry: Entry, isOldest: Bool = false) {
        entries[name] = entry
        size += entry.size
        let count = variants[name.prefix32]?.count ?? 0
        variants[name.prefix32, default: []].insert(name, at: isOldest ? 0 : count)
    }
}

extension String {
    fileprivate var prefix32: Substring { prefix(32) }
}
