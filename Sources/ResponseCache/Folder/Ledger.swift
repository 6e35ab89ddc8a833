import Glibc

/// The file with the totals of all shards, so that the size of a cache is known without listing its files.
///
/// A record of 16 bytes for each shard: the space, with marks for what the shard contains, the number of entries, and a
/// hash. A record is invalid while its shard is changed, and after an entry has been removed without the
/// lock of the shard. Otherwise, it is written only while the shard is locked.
struct Ledger: Sendable {
    /// The name of the file.
    static let name = "ledger"
    private static let recordLength = 16
    /// The mark of a shard that may have lists of variants.
    private static let lists = 1 << 56
    /// The mark of a shard that may have parts of bodies.
    private static let parts = 1 << 57
    /// The maximum space of a shard: the sum of all shards cannot overflow.
    private static let maximumSpace = (1 << 54) - 1

    private let file: OpenFile
    private let identity: FileIdentity?
    let isWritable: Bool

    /// Opens the ledger in a folder, if possible for reading and writing.
    init(in folder: OpenFolder) throws(FileFailure) {
        do throws(FileFailure) {
            (file, isWritable) = (try OpenFile(updating: Self.name, in: folder), true)
        } catch {
            guard error.code == EACCES || error.code == EROFS || error.code == EPERM else { throw error }
            (file, isWritable) = (try OpenFile(reading: Self.name, in: folder), false)
        }
        identity = file.identity
    }

    /// A Boolean value that indicates whether the ledger has not been removed.
    var hasName: Bool { file.hasName }

    /// Returns whether this is the ledger in a folder: it can be removed and created again.
    func isFile(in folder: OpenFolder) -> Bool {
        identity != nil && identity == (try? folder.status(of: Self.name)).map(FileIdentity.init)
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
        let entries = UInt32(clamping: totals.entries)
        var space = min(max(0, totals.bytes), maximumSpace)
        if space > 0 {
            if totals.hasLists { space |= lists }
            if totals.hasParts { space |= parts }
        }
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
        guard let space = reader.number(), space & ~(lists | parts) <= maximumSpace,
            let entries = reader.number32(), reader.number32() == checksum(shard, space, entries)
        else { return nil }
        return EntryFolder.Totals(
            bytes: space & maximumSpace, entries: Int(entries), hasLists: space & lists != 0,
            hasParts: space & parts != 0)
    }

    /// Returns a hash that is never that of an invalid record.
    ///
    /// All records are read to find the size of the cache, for which a CRC of so few bytes is too slow.
    static func checksum(_ shard: Int, _ space: Int, _ entries: UInt32) -> UInt32 {
        var hash = UInt64(truncatingIfNeeded: space) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 32 ^ UInt64(entries) ^ UInt64(truncatingIfNeeded: shard) << 40) &* 0xD6E8_FEB8_6659_FD93
        return UInt32(truncatingIfNeeded: hash >> 32) | 1
    }
}
