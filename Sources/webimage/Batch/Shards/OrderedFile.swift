import Hashing
import WebimageConsole

/// A file of extents that are added in any order, and written in the order of their rows.
///
/// The extents are on disk, not in memory. Not `Sendable`: its methods block.
final class OrderedFile {
    private static let blockSize = 1 << 20

    private let added: ReplacingFile
    private let path: String
    private let isSorted: Bool
    private let table: RowTable?
    private var lastRow = -1
    /// The number of bytes that ``nextExtent()`` has returned of a file that is not sorted.
    private var readCount = 0
    /// The extents of an earlier version of the file, among which the added ones are written; `nil` for none.
    private let standing: (any StandingPieces)?
    /// The digest of the extents, as long as they have been added in the order of the file.
    private var digest: MessageDigest?

    /// Creates the file that will be at `path`; if `isSorted` is `false`, the extents remain in the order in which they
    /// are added.
    init(
        path: String, isSorted: Bool = true, standing: (any StandingPieces)? = nil,
        tableLength: Int = RowTable.longest
    ) throws {
        self.path = path
        self.isSorted = isSorted
        self.standing = standing
        added = try ReplacingFile(path: path, tag: "rows")
        table = isSorted ? RowTable(path: path, longest: tableLength) : nil
        digest = try MessageDigest(.sha256)
    }

    /// Adds the bytes of a row.
    func append(_ bytes: [UInt8], row: Int) throws(FileError) {
        guard !bytes.isEmpty else { return }
        if let table {
            if row < lastRow { digest = nil }
            lastRow = row
            try table.set(RowTable.Extent(row: row, offset: added.count, count: bytes.count))
        }
        digest?.update(bytes)
        try added.append(bytes)
    }

    /// Writes the extents in order, followed by `end`, to a file that is ready to be placed.
    ///
    /// Returns the file and the SHA-256 of its bytes.
    func ordered(end: [UInt8]) throws -> (file: ReplacingFile, sha256: String) {
        if standing == nil, let digest = digest.take() {
            return try DigestedFile(file: added, digest: digest).completed(end: end)
        }
        var file = DigestedFile(file: try ReplacingFile(path: path), digest: try MessageDigest(.sha256))
        var earlier = try standing?.next()
        while let extent = try nextExtent() {
            while let standingRow = earlier, standingRow.row < extent.row {
                try file.append(standingRow.bytes)
                earlier = try standing?.next()
            }
            try file.append(try added.read(extent.count, at: extent.offset))
        }
        while let standingRow = earlier {
            try file.append(standingRow.bytes)
            earlier = try standing?.next()
        }
        return try file.completed(end: end)
    }

    /// Returns the next of the added extents, in the order of their rows; if the file is not sorted, the next bytes in
    /// the order in which they were added, after all rows.
    private func nextExtent() throws(FileError) -> RowTable.Extent? {
        if let table { return try table.next() }
        let offset = readCount
        let count = min(Self.blockSize, added.count - offset)
        readCount += count
        return count > 0 ? RowTable.Extent(row: .max, offset: offset, count: count) : nil
    }
}

/// A file and the digest of its bytes.
private struct DigestedFile: ~Copyable {
    let file: ReplacingFile
    var digest: MessageDigest

    mutating func append(_ bytes: [UInt8]) throws(FileError) {
        digest.update(bytes)
        try file.append(bytes)
    }

    /// Appends the last bytes, and writes the file to the disk; returns it and the SHA-256 of its bytes.
    consuming func completed(end: [UInt8]) throws -> (file: ReplacingFile, sha256: String) {
        try append(end)
        try file.sync()
        return (file, try digest.finish().hexadecimal)
    }
}
