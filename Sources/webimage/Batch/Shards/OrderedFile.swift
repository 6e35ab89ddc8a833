import Hashing
import WebimageConsole

/// A file of pieces that are added in any order, and written in the order of their rows.
///
/// The pieces are on disk, not in memory. Not `Sendable`: its methods block.
final class OrderedFile {
    private static let blockSize = 1 << 20

    private let added: PartFile
    private let path: String
    private let isSorted: Bool
    private let table: PieceTable?
    private var lastRow = -1
    /// The number of bytes that ``nextPiece()`` has returned of a file that is not sorted.
    private var readCount = 0
    /// The pieces of an earlier version of the file, among which the added ones are written; `nil` for none.
    private let standing: (any StandingPieces)?
    /// The digest of the pieces, as long as they have been added in the order of the file.
    private var digest: MessageDigest?

    /// Creates the file that will be at `path`; if `isSorted` is `false`, the pieces remain in the order in which they
    /// are added.
    init(
        path: String, isSorted: Bool = true, standing: (any StandingPieces)? = nil,
        tableLength: Int = PieceTable.longest
    ) throws {
        self.path = path
        self.isSorted = isSorted
        self.standing = standing
        added = try PartFile(path: path, tag: "rows")
        table = isSorted ? PieceTable(path: path, longest: tableLength) : nil
        digest = try MessageDigest(.sha256)
    }

    /// Adds the bytes of a row.
    func append(_ bytes: [UInt8], row: Int) throws(FileError) {
        guard !bytes.isEmpty else { return }
        if let table {
            if row < lastRow { digest = nil }
            lastRow = row
            try table.set(PieceTable.Piece(row: row, offset: added.count, count: bytes.count))
        }
        digest?.update(bytes)
        try added.append(bytes)
    }

    /// Writes the pieces in order, followed by `end`, to a file that is ready to be placed.
    ///
    /// Returns the file and the SHA-256 of its bytes.
    func ordered(end: [UInt8]) throws -> (file: PartFile, sha256: String) {
        if standing == nil, let digest = digest.take() {
            return try DigestedFile(file: added, digest: digest).completed(end: end)
        }
        var file = DigestedFile(file: try PartFile(path: path), digest: try MessageDigest(.sha256))
        var earlier = try standing?.next()
        while let piece = try nextPiece() {
            while let standingPiece = earlier, standingPiece.row < piece.row {
                try file.append(standingPiece.bytes)
                earlier = try standing?.next()
            }
            try file.append(try added.read(piece.count, at: piece.offset))
        }
        while let standingPiece = earlier {
            try file.append(standingPiece.bytes)
            earlier = try standing?.next()
        }
        return try file.completed(end: end)
    }

    /// Returns the next of the added pieces, in the order of their rows; if the file is not sorted, the next bytes in
    /// the order in which they were added, after all rows.
    private func nextPiece() throws(FileError) -> PieceTable.Piece? {
        if let table { return try table.next() }
        let offset = readCount
        let count = min(Self.blockSize, added.count - offset)
        readCount += count
        return count > 0 ? PieceTable.Piece(row: .max, offset: offset, count: count) : nil
    }
}

/// A file and the digest of its bytes.
private struct DigestedFile: ~Copyable {
    let file: PartFile
    var digest: MessageDigest

    mutating func append(_ bytes: [UInt8]) throws(FileError) {
        digest.update(bytes)
        try file.append(bytes)
    }

    /// Appends the last bytes, and writes the file to the disk; returns it and the SHA-256 of its bytes.
    consuming func completed(end: [UInt8]) throws -> (file: PartFile, sha256: String) {
        try append(end)
        try file.sync()
        return (file, try digest.finish().hexadecimal)
    }
}
