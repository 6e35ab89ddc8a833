import Threading

import Glibc

extension EntryFolder {
    /// The number of entries, and the space that their files take, including lists of variants.
    struct Totals: Sendable, Equatable {
        var bytes = 0
        var entries = 0
        /// A Boolean value that indicates whether there might be lists of variants.
        var hasLists = false
        /// A Boolean value that indicates whether there might be parts of bodies.
        var hasParts = false

        /// Notes that there is a file.
        mutating func note(_ file: ShardFile) {
            switch file {
            case .entry(let key): hasParts = hasParts || key.kind == .part
            case .list: hasLists = true
            }
        }

        static func += (sum: inout Totals, other: Totals) {
            sum.bytes += other.bytes
            sum.entries += other.entries
        }
    }

    /// The totals of all shards.
    var totals: Totals { totalsOfShards.reduce(into: Totals()) { $0 += $1 } }

    /// The totals of each shard.
    var totalsOfShards: [Totals] {
        let ledger = try? ledger()
        let known = ledger?.all ?? [Totals?](repeating: nil, count: Self.shardCount)
        return known.enumerated().map { shard, totals in totals ?? recounted(shard) }
    }

    /// The totals of each shard, as far as they are known without waiting for those that change a shard at the moment.
    var recentTotalsOfShards: [Totals] {
        let known = (try? ledger())?.all ?? [Totals?](repeating: nil, count: Self.shardCount)
        return knownTotals.withLock { earlier in
            for (shard, totals) in known.enumerated() { earlier[shard] = totals ?? earlier[shard] ?? count(shard) }
            return earlier.compactMap(\.self)
        }
    }

    /// The space that all files take according to the ledger; `nil` if it does not know some of them.
    var recordedBytes: Int? {
        guard let known = (try? ledger())?.all, !known.contains(nil) else { return nil }
        return known.reduce(0) { $0 + ($1?.bytes ?? 0) }
    }

    /// Returns the totals of a shard as they were a moment ago; `nil` if they are unknown.
    func recentTotals(of shard: Int) -> Totals? {
        if let ledger = ledgerInUse.withLock({ $0 }), ledger.hasName { return ledger[shard] }
        return (try? ledger())?[shard]
    }

    /// Changes a shard while no other thread or process does; `body` keeps the totals up to date.
    func change<Result>(
        _ shard: Int, _ body: (inout Totals) throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        try withShard(shard) { () throws(FileFailure) in
            let ledger = try writableLedger()
            let recorded = ledger[shard]
            // If this process ends in the middle of the change, the next one counts the files.
            try ledger.invalidate(shard)
            let removed = removedUnlocked.withLock { $0.removeValue(forKey: shard) }
            var totals = (removed == nil ? recorded : nil) ?? count(shard)
            defer { ledger.set(shard, totals) }
            for key in removed ?? [] { removeFromList(key, &totals) }
            return try body(&totals)
        }
    }

    /// Counts a shard whose record is invalid, and corrects the record.
    private func recounted(_ shard: Int) -> Totals {
        (try? change(shard) { totals throws(FileFailure) in totals }) ?? count(shard)
    }

    /// Counts a shard again if its record differs from the size of its files, because others have changed them.
    func recount(_ shard: Int, unlessItHas bytes: Int) {
        // It has none while it is changed by one that keeps it right.
        guard let recorded = try? ledger()[shard], recorded.bytes != bytes else { return }
        try? change(shard) { totals throws(FileFailure) in totals = count(shard) }
    }

    /// Makes the record of a shard invalid, so that the files are counted when the totals are needed.
    func invalidate(_ shard: Int) { try? writableLedger().invalidate(shard) }

    /// Returns the ledger, which stays open.
    private func ledger() throws(FileFailure) -> Ledger {
        let folder = try opened()
        if let ledger = ledgerInUse.withLock({ $0 }), ledger.isFile(in: folder) { return ledger }
        let ledger = try Ledger(in: folder)
        ledgerInUse.withLock { $0 = ledger }
        return ledger
    }

    private func writableLedger() throws(FileFailure) -> Ledger {
        try requireWritable()
        do throws(FileFailure) {
            return try writable(ledger())
        } catch {
            guard error.code == ENOENT else { throw error }
            try prepareLedger()
            return try writable(ledger())
        }
    }

    /// Returns a ledger opened for writing: the folder may have become writable.
    private func writable(_ ledger: Ledger) throws(FileFailure) -> Ledger {
        guard !ledger.isWritable else { return ledger }
        let folder = try opened()
        _ = try OpenFile(updating: Ledger.name, in: folder)
        let opened = try Ledger(in: folder)
        ledgerInUse.withLock { $0 = opened }
        return opened
    }

    /// Counts the files of a shard.
    func count(_ shard: Int) -> Totals {
        statuses(in: shard).reduce(into: Totals()) { totals, status in
            totals.bytes += status.space
            totals.note(status.file)
            if case .entry = status.file { totals.entries += 1 }
        }
    }

    /// Creates the ledger if there is none; returns its error if it cannot be written.
    func prepareLedger() throws(FileFailure) {
        do throws(FileFailure) {
            _ = try OpenFile(updating: Ledger.name, in: opened())
        } catch {
            guard error.code == ENOENT else { throw error }
            // Linked when it is complete. If another process is faster, that one's is used.
            let temporary = try create()
            defer { temporary.remove() }
            try temporary.file.write(Ledger.initial { hasFolder($0) }, at: 0)
            try temporary.folder.link(temporary.path, to: Ledger.name)
        }
    }
}
