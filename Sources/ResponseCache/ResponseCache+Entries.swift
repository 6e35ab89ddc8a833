import Threading

// All entries of a cache, which are listed in portions, so that requests are not held up.
extension ResponseCache {
    /// A stored response without its body.
    package struct Entry: Sendable {
        /// The name of the entry, for ``remove(_:)-(Entry)``.
        let name: String
        package let head: StoredHead
        /// The URL of the request.
        package var url: String { head.url }
        /// The length of the body in bytes.
        package let bodyLength: Int
        /// The space that the entry takes, in bytes.
        package let space: Int
        /// A Boolean value that indicates whether only the beginning of the body is stored.
        package let isPartial: Bool
    }

    /// Calls `body` with all entries, in no particular order and on the cache's threads; damaged ones are removed.
    ///
    /// Entries that are stored or removed in the meantime may be included or not. Stops when `body` returns `false`.
    package func forEachEntry(_ body: @escaping @Sendable (Entry) -> Bool) async {
        for portion in 0..<EntryFolder.shardCount {
            let goesOn = await thread.run(to: .long) { [self] in
                names(in: portion).allSatisfy { name in entry(name).map(body) ?? true }
            }
            if !goesOn { return }
        }
    }

    /// Removes an entry, unless its response has been replaced.
    package func remove(_ entry: Entry) async {
        await thread.run { [self] in
            if open(entry.name)?.head == entry.head { remove(entry.name) }
        }
    }

    /// Removes all entries for which `isRemoved` returns `true`.
    package func removeEntries(where isRemoved: @escaping @Sendable (Entry) -> Bool) async {
        await forEachEntry { [self] entry in
            if isRemoved(entry) { remove(entry.name) }
            return true
        }
    }

    private func names(in portion: Int) -> [String] {
        guard let folder else { return portion == 0 ? entries.withLock { $0.allNames } : [] }
        return folder.files(in: portion).map(\.name).filter { EntryKind($0) != nil }
    }

    private func entry(_ name: String) -> Entry? {
        guard let stored = open(name), let kind = EntryKind(name) else { return nil }
        let space = stored.body.facts.map { EntryFolder.File.space(of: $0.fileSize) }
        return Entry(
            name: name, head: stored.head, bodyLength: stored.body.length,
            space: space ?? stored.body.length + stored.head.bytes.count, isPartial: kind == .part)
    }
}
