import Threading

// Storing and removing entries. A shard contains all entries of a key, and the list of those that differ by `Vary`.
extension EntryFolder {
    /// The maximum number of names in a list of variants.
    private static let maximumListLength = 64

    /// Makes a temporary file of `size` bytes the entry `name`.
    func insert(_ temporary: TemporaryFile, as name: String, size: Int) throws(FileFailure) {
        try change(Self.shard(of: name)) { totals throws(FileFailure) in
            let replaced = file(name)
            try rename(temporary, to: name)
            totals.bytes += File.space(of: size) - (replaced?.space ?? 0)
            if replaced == nil { totals.entries += 1 }
            totals.note(name)
            addVariant(name, &totals)
        }
    }

    /// Removes an entry; returns whether it was removed.
    ///
    /// With `usedAt`, removes it only if that is still the time of its last use. Throws the error of
    /// ``withShard(_:_:)`` if the shard cannot be locked.
    @discardableResult
    func remove(_ name: String, ifUsedAt usedAt: Int? = nil) throws(FileFailure) -> Bool {
        guard mightHave(name), has(name) else { return false }
        return try change(Self.shard(of: name)) { totals throws(FileFailure) in
            if let usedAt, file(name)?.usedAt != usedAt { return false }
            defer { removeVariant(name, &totals) }
            return try removeLocked(name, &totals)
        }
    }

    /// Removes an entry whose shard cannot be locked.
    ///
    /// A file is removed atomically, but the totals and the list of variants cannot be changed without the lock: the
    /// files are counted when the totals are needed, and the list keeps a name without an entry, which readers ignore.
    /// The next change of the shard corrects both: a process that has the lock can write totals that it read before.
    func removeUnlocked(_ name: String) throws(FileFailure) {
        guard try unlink(name) else { return }
        let shard = Self.shard(of: name)
        removedUnlocked.withLock { $0[shard, default: []].append(name) }
        invalidate(shard)
    }

    /// Returns `false` if there is no entry with a name because its shard has only whole bodies.
    private func mightHave(_ name: String) -> Bool {
        EntryKind(name) == .whole || recentTotals(of: Self.shard(of: name))?.hasParts != false
    }

    /// Removes all entries; throws the first error after it has removed those that can be removed.
    func removeAll() throws(FileFailure) {
        var failure: FileFailure?
        for shard in 0..<Self.shardCount where totalsOfShards[shard] != Totals() {
            do throws(FileFailure) {
                try change(shard) { totals in
                    for file in files(in: shard) { failure = removeFile(file.name) ?? failure }
                    // Others can have removed or added files.
                    totals = count(shard)
                }
            } catch {
                failure = error
            }
        }
        removeTemporaryFiles()
        if let failure { throw failure }
    }

    /// Returns the error if the file of an entry or of a list cannot be removed.
    private func removeFile(_ name: String) -> FileFailure? {
        do throws(FileFailure) {
            try unlink(name)
            return nil
        } catch {
            return error
        }
    }

    private func removeLocked(_ name: String, _ totals: inout Totals) throws(FileFailure) -> Bool {
        guard let file = file(name), try unlink(name) else { return false }
        totals.bytes -= file.space
        totals.entries -= 1
        return true
    }

    // MARK: Variants

    /// Returns the names of all entries of a key that might exist, the newest first.
    func names(of key: String) -> [String] {
        // Most shards contain only whole bodies without `Vary`, which the ledger tells faster than the folder.
        let totals = recentTotals(of: Self.shard(of: key))
        let wholes = [StoredHead.plainName(key)] + (totals?.hasLists == false ? [] : variants(of: key))
        return totals?.hasParts == false ? wholes : wholes.flatMap(EntryKind.names)
    }

    /// Returns the names of the whole entries of a key that differ by `Vary`, newest first.
    func variants(of key: String) -> [String] {
        guard let file = try? open(Self.listName(key)) else { return [] }
        return list(file, of: key)
    }

    private static func listName(_ key: String) -> String { key + ".vary" }

    /// Returns whether a name is that of a list of variants.
    static func isListName(_ name: String) -> Bool {
        let key = name.dropLast(".vary".count)
        return name == listName(String(key)) && EntryKind(StoredHead.plainName(String(key))) == .whole
    }

    private static let suffixLength = 16

    private func list(_ file: OpenFile, of key: String) -> [String] {
        let bytes = (try? file.read(Self.maximumListLength * (Self.suffixLength + 1), at: 0)) ?? []
        return bytes.split(separator: 0x0A).compactMap { line in
            let name = "\(key)-\(String(decoding: line, as: UTF8.self))"
            return EntryKind(name) == .whole ? name : nil
        }
    }

    /// Adds an entry to the list of its key, as the newest.
    private func addVariant(_ name: String, _ totals: inout Totals) {
        let name = EntryKind.wholeName(of: name)
        guard !StoredHead.isPlain(name) else { return }
        let key = String(name.prefix(32))
        let names = variants(of: key)
        if names.first == name { return }
        let others = names.filter { $0 != name }
        write([name] + others.prefix(Self.maximumListLength - 1), of: key, &totals)
    }

    /// Removes an entry from the list of its key, unless another kind of it is left.
    func removeVariant(_ name: String, _ totals: inout Totals) {
        let name = EntryKind.wholeName(of: name)
        guard !StoredHead.isPlain(name), !EntryKind.names(name).contains(where: has) else { return }
        let key = String(name.prefix(32))
        let names = variants(of: key)
        if names.contains(name) { write(names.filter { $0 != name }, of: key, &totals) }
    }

    private func write(_ names: [String], of key: String, _ totals: inout Totals) {
        let list = Self.listName(key)
        let old = file(list)?.space ?? 0
        let text = Array(names.map { $0.suffix(Self.suffixLength) + "\n" }.joined().utf8)
        if names.isEmpty {
            _ = try? unlink(list)
        } else if let file = try? openForUpdate(list, creates: true) {
            totals.hasLists = true
            // A concurrent reader can find old or new names; it checks whether each entry exists.
            try? file.write(text, at: 0)
            try? file.truncate(to: text.count)
        }
        totals.bytes += (file(list)?.space ?? 0) - old
    }
}
