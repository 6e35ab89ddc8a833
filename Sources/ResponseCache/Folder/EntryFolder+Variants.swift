// The entries of a resource: one without `Vary`, or those in the resource's list, which differ by `Vary`; and the results
// computed from them, which are listed as well.
extension EntryFolder {
    /// The maximum number of keys in a list.
    private static let maximumListLength = 64

    /// Returns the keys of all entries of a resource that might exist, the newest first.
    func keys(of resource: String) -> [ResponseStorageKey] {
        // Most shards contain only whole bodies without `Vary`, which the ledger tells faster than the folder.
        let totals = recentTotals(of: ShardFile.shard(of: resource))
        let plain = ResponseStorageKey(resource: resource)
        let keys = [plain] + (totals?.hasLists == false ? [] : listed(of: resource))
        return totals?.hasParts == false ? keys : keys.flatMap { $0.kind == .whole ? [$0, $0.with(.part)] : [$0] }
    }

    /// Returns the keys in the list of a resource, newest first.
    private func listed(of resource: String) -> [ResponseStorageKey] {
        guard let file = try? open(.list(resource: resource)) else { return [] }
        // A line has the 16 digits of the selection, and the suffix of a result.
        let bytes = (try? file.read(Self.maximumListLength * 21, at: 0)) ?? []
        return bytes.split(separator: 0x0A).compactMap { line in
            let key = ResponseStorageKey("\(resource)-\(String(decoding: line, as: UTF8.self))")
            return key?.kind == .part ? nil : key
        }
    }

    /// Adds an entry to the list of its resource, as the newest.
    func addToList(_ key: ResponseStorageKey, _ totals: inout Totals) {
        guard key.isListed else { return }
        let keys = listed(of: key.resource)
        let line = key.inList
        if keys.first == line { return }
        let others = keys.filter { $0 != line }
        write([line] + others.prefix(Self.maximumListLength - 1), of: key.resource, &totals)
    }

    /// Removes an entry from the list of its resource, unless another kind of it is left.
    func removeFromList(_ key: ResponseStorageKey, _ totals: inout Totals) {
        guard key.isListed, key.kind == .result || !has(.entry(key.with(.whole))) && !has(.entry(key.with(.part)))
        else { return }
        let keys = listed(of: key.resource)
        let others = keys.filter { $0 != key.inList }
        if others.count < keys.count { write(others, of: key.resource, &totals) }
    }

    private func write(_ keys: [ResponseStorageKey], of resource: String, _ totals: inout Totals) {
        let list = ShardFile.list(resource: resource)
        let space = status(list)?.space ?? 0
        let text = Array(keys.map { $0.name.dropFirst(resource.count + 1) + "\n" }.joined().utf8)
        if keys.isEmpty {
            _ = try? unlink(list)
        } else if let file = try? openForUpdate(list, creates: true) {
            totals.note(list)
            // A concurrent reader can find old or new keys; it checks whether each entry exists.
            try? file.write(text, at: 0)
            try? file.truncate(to: text.count)
        }
        totals.bytes += (status(list)?.space ?? 0) - space
    }
}

extension ResponseStorageKey {
    /// The key in the list of its resource, which names a whole body for its beginning as well.
    fileprivate var inList: ResponseStorageKey { kind == .part ? with(.whole) : self }
}
