#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

extension EntryFolder {
    /// The number of entries, and the space that their files take, including lists of variants.
    struct Totals: Sendable, Equatable {
        var bytes = 0
        var entries = 0

        static func += (sum: inout Totals, other: Totals) {
            sum.bytes += other.bytes
            sum.entries += other.entries
        }
    }

    /// The totals of all shards.
    var totals: Totals { totalsOfShards.reduce(into: Totals()) { $0 += $1 } }

    /// The totals of each shard.
    var totalsOfShards: [Totals] {
        let ledger = try? Ledger(path: ledgerPath, isWritable: false)
        let known = ledger?.all ?? [Totals?](repeating: nil, count: Self.shardCount)
        return known.enumerated().map { shard, totals in totals ?? recounted(shard) }
    }

    /// Changes a shard while no other thread or process does; `body` keeps the totals up to date.
    func change<Result>(
        _ shard: Int, _ body: (inout Totals) throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        try withShard(shard) { () throws(FileFailure) in
            let ledger = try writableLedger()
            var totals = ledger[shard] ?? count(shard)
            // If this process ends in the middle of the change, the next one counts the files.
            try ledger.invalidate(shard)
            defer { ledger.set(shard, totals) }
            return try body(&totals)
        }
    }

    /// Counts a shard whose record is invalid, and corrects the record.
    private func recounted(_ shard: Int) -> Totals {
        (try? change(shard) { totals throws(FileFailure) in totals }) ?? count(shard)
    }

    private func writableLedger() throws(FileFailure) -> Ledger {
        do throws(FileFailure) {
            return try Ledger(path: ledgerPath, isWritable: true)
        } catch {
            guard error.code == ENOENT else { throw error }
            try prepareLedger()
            return try Ledger(path: ledgerPath, isWritable: true)
        }
    }

    /// Counts the files of a shard.
    private func count(_ shard: Int) -> Totals {
        files(in: shard).reduce(into: Totals()) { totals, file in
            totals.bytes += file.space
            if EntryKind(file.name) != nil { totals.entries += 1 }
        }
    }

    private var ledgerPath: String { "\(base)/ledger" }

    /// Creates the ledger if there is none; returns its error if it cannot be written.
    func prepareLedger() throws(FileFailure) {
        do throws(FileFailure) {
            _ = try OpenFile(updating: ledgerPath)
        } catch {
            guard error.code == ENOENT else { throw error }
            // Linked when it is complete. If another process is faster, that one's is used.
            let temporary = try create()
            defer { temporary.remove() }
            try temporary.file.write(Ledger.initial { hasFolder($0) }, at: 0)
            if unsafe link(temporary.path, ledgerPath) != 0, errno != EEXIST { throw .last }
        }
    }
}

/// The file with the totals of all shards, so that the size of a cache is known without listing its files.
///
/// A record of 16 bytes for each shard: the space, the number of entries, and a hash. A record is invalid while its
/// shard is changed. It is written only while the shard is locked.
private struct Ledger {
    private static let recordLength = 16
    private let file: OpenFile

    init(path: String, isWritable: Bool) throws(FileFailure) {
        file = isWritable ? try OpenFile(updating: path) : try OpenFile(reading: path)
    }

    /// Returns the contents of a new ledger: shards with files have to be counted.
    static func initial(_ hasFiles: (Int) -> Bool) -> [UInt8] {
        (0..<EntryFolder.shardCount).flatMap { shard in
            hasFiles(shard)
                ? [UInt8](repeating: 0, count: recordLength) : record(shard, EntryFolder.Totals())
        }
    }

    /// The totals of all shards; `nil` for an invalid record.
    var all: [EntryFolder.Totals?] {
        let bytes = (try? file.read(EntryFolder.shardCount * Self.recordLength, at: 0)) ?? []
        return (0..<EntryFolder.shardCount).map { Self.totals($0, in: bytes, at: $0 * Self.recordLength) }
    }

    subscript(shard: Int) -> EntryFolder.Totals? {
        let bytes = try? file.read(Self.recordLength, at: shard * Self.recordLength)
        return bytes.flatMap { Self.totals(shard, in: $0, at: 0) }
    }

    func set(_ shard: Int, _ totals: EntryFolder.Totals) {
        try? file.write(Self.record(shard, totals), at: shard * Self.recordLength)
    }

    private static func record(_ shard: Int, _ totals: EntryFolder.Totals) -> [UInt8] {
        let (space, entries) = (max(0, totals.bytes), UInt32(clamping: totals.entries))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(recordLength)
        bytes.append(space)
        bytes.append(entries)
        bytes.append(checksum(shard, space, entries))
        return bytes
    }

    func invalidate(_ shard: Int) throws(FileFailure) {
        try file.write([UInt8](repeating: 0, count: Self.recordLength), at: shard * Self.recordLength)
    }

    private static func totals(_ shard: Int, in bytes: [UInt8], at offset: Int) -> EntryFolder.Totals? {
        var reader = ByteFieldReader(bytes, from: offset)
        guard let space = reader.number(), space < 1 << 56, let entries = reader.number32(),
            reader.number32() == checksum(shard, space, entries)
        else { return nil }
        return EntryFolder.Totals(bytes: space, entries: Int(entries))
    }

    /// Returns a hash that is never that of an invalid record.
    ///
    /// All records are read to find the size of the cache, for which a CRC of so few bytes is too slow.
    private static func checksum(_ shard: Int, _ space: Int, _ entries: UInt32) -> UInt32 {
        var hash = UInt64(truncatingIfNeeded: space) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 32 ^ UInt64(entries) ^ UInt64(truncatingIfNeeded: shard) << 40) &* 0xD6E8_FEB8_6659_FD93
        return UInt32(truncatingIfNeeded: hash >> 32) | 1
    }
}
