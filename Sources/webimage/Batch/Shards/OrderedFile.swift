import Digests
import Hashing
import WebimageConsole

/// A file of pieces that are added in any order, and written in the order of their rows.
///
/// The pieces are on disk, not in memory. Not `Sendable`: its methods block.
final class OrderedFile {
    private struct Piece {
        let row: Int
        let offset: Int
        let count: Int
    }

    private let unordered: PartFile
    private var pieces: [Piece] = []
    private let path: String

    /// Creates the file that will be at `path`.
    init(path: String) throws(FileError) {
        self.path = path
        unordered = try PartFile(path: path, tag: "rows")
    }

    /// Adds the bytes of a row.
    func append(_ bytes: [UInt8], row: Int) throws(FileError) {
        guard !bytes.isEmpty else { return }
        pieces.append(Piece(row: row, offset: unordered.count, count: bytes.count))
        try unordered.append(bytes)
    }

    /// Writes the pieces in order, followed by `end`, to a file that is ready to be placed.
    ///
    /// Returns the file and the SHA-256 of its bytes.
    func ordered(end: [UInt8]) throws -> (file: PartFile, sha256: String) {
        let file = try PartFile(path: path)
        var digest = try MessageDigest(.sha256)
        for piece in pieces.sorted(by: { $0.row < $1.row }) {
            let bytes = try unordered.read(piece.count, at: piece.offset)
            digest.update(bytes)
            try file.append(bytes)
        }
        digest.update(end)
        try file.append(end)
        try file.sync()
        return (file, try digest.finish().hexadecimal)
    }
}
