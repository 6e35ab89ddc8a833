import WebimageConsole

/// A complete shard of an earlier run, whose retryable failures are answered again.
struct CommittedShard: Sendable {
    let marker: ShardMarker
    /// The rows of the lines that are answered again.
    private(set) var retriedRows = RowSet()
    /// The numbers of all records.
    private(set) var statistics = BatchStatistics()
    /// The numbers of the records that stand.
    private(set) var standing = BatchStatistics()

    /// Reads the records of a shard.
    ///
    /// Throws ``DamagedShard`` if they are not the ones that `marker` describes.
    init(_ shard: Int, _ marker: ShardMarker, in folder: ShardFolder) throws {
        self.marker = marker
        let path = folder.sidecarPath(shard)
        let file = try CommittedFile(path: path, expected: marker.file(named: ShardFolder.name(of: path)))
        while let line = try file.line() {
            guard let record = CommittedRecord(line, keys: folder.keys, shard: shard) else {
                throw DamagedShard(differingPath: path)
            }
            statistics.add(record)
            if record.isRetryable { retriedRows.insert(record.row) } else { standing.add(record) }
        }
        try file.finish()
        guard statistics.count == marker.input.count, retriedRows.count == statistics.retryable else {
            throw DamagedShard(differingPath: path)
        }
    }
}

/// The pieces of a file of a complete shard that stand, in the order of the file.
protocol StandingPieces: AnyObject {
    /// Returns the next piece; `nil` after the last one. Throws ``DamagedShard`` if the file is not the one that the
    /// marker describes.
    func next() throws -> (row: Int, bytes: [UInt8])?
}

/// The records of a complete shard, without those of the lines that are answered again.
final class StandingRecords: StandingPieces {
    private let file: CommittedFile
    private let path: String
    private let retriedRows: RowSet
    private let keys: SampleKeys
    private let shard: Int

    init(_ committed: CommittedShard, _ shard: Int, in folder: ShardFolder) throws {
        path = folder.sidecarPath(shard)
        file = try CommittedFile(path: path, expected: committed.marker.file(named: ShardFolder.name(of: path)))
        retriedRows = committed.retriedRows
        keys = folder.keys
        self.shard = shard
    }

    func next() throws -> (row: Int, bytes: [UInt8])? {
        while let line = try file.line() {
            guard let record = CommittedRecord(line, keys: keys, shard: shard) else {
                throw DamagedShard(differingPath: path)
            }
            if !retriedRows.contains(record.row) { return (record.row, line) }
        }
        try file.finish()
        return nil
    }
}

/// The samples of the archive of a complete shard: those of its successful lines, which all stand.
final class StandingSamples: StandingPieces {
    private let file: CommittedFile
    private let path: String
    private let keys: SampleKeys
    private let shard: Int
    /// The member that follows the samples that have been returned.
    private var ahead: (header: [UInt8], row: Int, size: Int)?
    private var hasBegun = false

    init(_ committed: CommittedShard, _ shard: Int, in folder: ShardFolder) throws {
        path = folder.imagesPath(shard)
        file = try CommittedFile(path: path, expected: committed.marker.file(named: ShardFolder.name(of: path)))
        keys = folder.keys
        self.shard = shard
    }

    func next() throws -> (row: Int, bytes: [UInt8])? {
        if !hasBegun { ahead = try member() }
        hasBegun = true
        guard let row = ahead?.row else {
            try file.finish()
            return nil
        }
        var sample: [UInt8] = []
        while let member = ahead, member.row == row {
            sample += member.header
            let contents = try file.read(TarArchive.paddedSize(member.size))
            guard contents.count == TarArchive.paddedSize(member.size) else { throw DamagedShard(differingPath: path) }
            sample += contents
            ahead = try self.member()
        }
        return (row, sample)
    }

    /// Reads the header of the next member; returns `nil` at the end of the archive.
    private func member() throws -> (header: [UInt8], row: Int, size: Int)? {
        let header = try file.read(TarArchive.blockSize)
        guard header.contains(where: { $0 != 0 }) else { return nil }
        guard let (name, size) = TarArchive.member(header), let key = name.split(separator: ".").first,
            let row = keys.row(of: String(key), shard: shard)
        else { throw DamagedShard(differingPath: path) }
        return (header, row, size)
    }
}
