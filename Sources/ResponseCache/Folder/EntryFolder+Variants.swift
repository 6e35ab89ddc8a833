// The entries of a resource: one without `Vary`, or those in the resource's list, which differ by `Vary`.
extension EntryFolder {
    /// The maximum number of keys in a list of variants.
    private static let maximumListLength = 64

    /// Returns the keys of all entries of a resource that might exist, the newest first.
    func keys(of resource: String) -> [ResponseStorageKey] {
        // Most shards contain only whole bodies without `Vary`, which the ledger tells faster than the folder.
        let totals = recentTotals(of: ShardFile.shard(of: resource))
        let plain = ResponseStorageKey(resource: resource)
        let wholes = [plain] + (totals?.hasLists == false ? [] : variants(of: resource))
        return totals?.hasParts == false ? wholes : wholes.flatMap { [$0, $0.with(.part)] }
    }

    /// Returns the keys in the list of a resource, newest first.
    private func variants(of resource: String) -> [ResponseStorageKey] {
        guard let file = try? open(.list(resource: resource)) else { return [] }
        // A line has the 16 digits of the selection.
        let bytes = (try? file.read(Self.maximumListLength * 17, at: 0)) ?? []
        return bytes.split(separator: 0x0A).compactMap { line in
            let key = ResponseStorageKey("\(resource)-\(String(decoding: line, as: UTF8.self))")
            return key?.kind == .whole ? key : nil
        }
    }

    /// Adds an entry to the list of its resource, as the newest.
    func addVariant(_ key: ResponseStorageKey, _ totals: inout Totals) {
        guard key.isVariant else { return }
        let keys = variants(of: key.resource)
        let variant = key.with(.whole)
        if keys.first == variant { return }
        let others = keys.filter { $0 != variant }
        write([variant] + others.prefix(Self.maximumListLength - 1), of: key.resource, &totals)
    }

    /// Removes an entry from the list of its resource, unless another kind of it is left.
    func removeVariant(_ key: ResponseStorageKey, _ totals: inout Totals) {
        guard key.isVariant, !EntryKind.allCases.contains(where: { has(.entry(key.with($0))) }) else { return }
        let keys = variants(of: key.resource)
        let others = keys.filter { $0 != key.with(.whole) }
        if others.count < keys.count { write(others, of: key.resource, &totals) }
    }

    private func write(_ keys: [ResponseStorageKey], of resource: String, _ totals: inout Totals) {
        let list = ShardFile.list(resource: resource)
        let space = status(list)?.space ?? 0
        let text = Array(keys.map { $0.selection + "\n" }.joined().utf8)
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
