import Hashing

/// The lines of the shard that is being read.
///
/// Not `Sendable`: used under a lock.
final class ShardReader {
    /// The use of the lines.
    enum Use: Sendable {
        /// The shard is made by this process; if there is a marker, its files are not complete, and its lines must be
        /// those of the marker.
        case make(OpenShard, ShardMarker? = nil)
        /// The shard is complete; its lines must be those of its marker. The failures are the rows of those lines that
        /// a list of failed lines contains.
        case check(ShardMarker, failures: RowSet = RowSet())
        /// The shard is complete, but some of its lines are answered again.
        case retry(OpenShard, CommittedShard)
        /// The shard is made by another process.
        case skip
    }

    let number: Int
    let use: Use
    private let first: Int
    /// The index of the line that follows the previous one in the list.
    private var next: Int
    private var count = 0
    private var digest: MessageDigest

    init(_ number: Int, first: Int, use: Use) throws {
        self.number = number
        self.first = first
        next = first
        self.use = use
        digest = try MessageDigest(.sha256)
    }

    /// The fate of a line.
    enum Fate {
        /// It is answered by this process.
        case answered
        /// An earlier run has answered it; it can be one of the failures of a complete shard.
        case standing(isFailure: Bool)
        /// It belongs to another process.
        case foreign
    }

    /// Adds the line of an entry, which has this row in the shard; returns what happens to it.
    func add(_ entry: ListEntry, row: Int) -> Fate {
        if case .skip = use { return .foreign }
        let line = entry.line
        // The header determines what the values of the lines mean.
        if count == 0, let header = entry.header { digest.update(header + [UInt8(ascii: "\n")]) }
        if entry.index != next { digest.update(Array("\(entry.index)\n".utf8)) }
        next = entry.index + 1
        count += 1
        digest.update(line.bytes + [UInt8(ascii: "\n")])
        if line.isCut { digest.update(Array(String(line.count).utf8)) }
        return switch use {
        case .make: .answered
        case .retry(_, let committed): committed.retriedRows.contains(row) ? .answered : .standing(isFailure: false)
        case .check(_, let failures): .standing(isFailure: failures.contains(row))
        case .skip: .foreign
        }
    }

    /// The lines, after the last one has been read.
    func input() throws -> ShardMarker.Input {
        ShardMarker.Input(first: first, count: count, sha256: try digest.finish().hexadecimal)
    }
}
