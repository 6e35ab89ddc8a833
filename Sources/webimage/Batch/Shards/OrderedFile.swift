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

    private let added: PartFile
    private let path: String
    private let isSorted: Bool
    private var pieces: [Piece] = []
    /// The digest of the pieces, as long as they have been added in the order of the file.
    private var digest: MessageDigest?

    /// Creates the file that will be at `path`; if `isSorted` is `false`, the pieces remain in the order in which they
    /// are added.
    init(path: String, isSorted: Bool = true) throws {
        self.path = path
        self.isSorted = isSorted
        added = try PartFile(path: path, tag: "rows")
        digest = try MessageDigest(.sha256)
    }

    /// Adds the bytes of a row.
    func append(_ bytes: [UInt8], row: Int) throws(FileError) {
        guard !bytes.isEmpty else { return }
        if isSorted {
            if let last = pieces.last, row < last.row { digest = nil }
            pieces.append(Piece(row: row, offset: added.count, count: bytes.count))
        }
        digest?.update(bytes)
        try added.append(bytes)
    }

    /// Writes the pieces in order, followed by `end`, to a file that is ready to be placed.
    ///
    /// Returns the file and the SHA-256 of its bytes.
    func ordered(end: [UInt8]) throws -> (file: PartFile, sha256: String) {
        if let digest = digest.take() { return try Self.completed(added, digest, end: end) }
        let file = try PartFile(path: path)
        var digest = try MessageDigest(.sha256)
        for piece in pieces.sorted(by: { $0.row < $1.row }) {
            let bytes = try added.read(piece.count, at: piece.offset)
            digest.update(bytes)
            try file.append(bytes)
        }
        return try Self.completed(file, digest, end: end)
    }

    private static func completed(
        _ file: PartFile, _ digest: consuming MessageDigest, end: [UInt8]
    ) throws -> (file: PartFile, sha256: String) {
        digest.update(end)
        try file.append(end)
        try file.sync()
        return (file, try digest.finish().hexadecimal)
    }
}
