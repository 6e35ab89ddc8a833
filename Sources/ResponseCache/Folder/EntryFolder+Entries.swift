import Threading

// Storing and removing entries. A shard contains all entries of a resource, and the list of those that differ by `Vary`.
extension EntryFolder {
    /// Makes a temporary file of `size` bytes an entry.
    func insert(_ temporary: TemporaryFile, as key: ResponseStorageKey, size: Int) throws(FileFailure) {
        let entry = ShardFile.entry(key)
        try change(entry.shard) { totals throws(FileFailure) in
            let replaced = status(entry)
            try rename(temporary, to: entry)
            totals.bytes += Status.space(of: size) - (replaced?.space ?? 0)
            if replaced == nil { totals.entries += 1 }
            totals.note(entry)
            addToList(key, &totals)
        }
    }

    /// Removes an entry; returns whether it was removed.
    ///
    /// With `usedAt`, removes it only if that is still the time of its last use. Throws the error of
    /// ``withShard(_:_:)`` if the shard cannot be locked.
    @discardableResult
    func remove(_ key: ResponseStorageKey, ifUsedAt usedAt: Int? = nil) throws(FileFailure) -> Bool {
        let entry = ShardFile.entry(key)
        // Most shards contain no parts, which the ledger tells faster than the folder.
        guard key.kind != .part || recentTotals(of: entry.shard)?.hasParts != false, has(entry) else { return false }
        return try change(entry.shard) { totals throws(FileFailure) in
            guard let status = status(entry), usedAt == nil || status.usedAt == usedAt else { return false }
            defer { removeFromList(key, &totals) }
            guard try unlink(entry) else { return false }
            totals.bytes -= status.space
            totals.entries -= 1
            return true
        }
    }

    /// Removes an entry whose shard cannot be locked.
    ///
    /// A file is removed atomically, but the totals and the list of variants cannot be changed without the lock: the
    /// files are counted when the totals are needed, and the list keeps a key without an entry, which readers ignore.
    /// The next change of the shard corrects both: a process that has the lock can write totals that it read before.
    func removeUnlocked(_ key: ResponseStorageKey) throws(FileFailure) {
        let entry = ShardFile.entry(key)
        guard try unlink(entry) else { return }
        removedUnlocked.withLock { $0[entry.shard, default: []].append(key) }
        invalidate(entry.shard)
    }

    /// Removes all entries; throws the first error after it has removed those that can be removed.
    func removeAll() throws(FileFailure) {
        var failure: FileFailure?
        for shard in 0..<Self.shardCount where totalsOfShards[shard] != Totals() {
            do throws(FileFailure) {
                try change(shard) { totals throws(FileFailure) in
                    // Others can have removed or added files.
                    defer { totals = count(shard) }
                    for file in try files(in: shard) {
                        do throws(FileFailure) { try unlink(file) } catch { failure = error }
                    }
                }
            } catch {
                failure = error
            }
        }
        removeTemporaryFiles()
        if let failure { throw failure }
    }
}
