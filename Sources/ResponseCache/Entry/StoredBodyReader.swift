import Hashing

/// Reads a stored body piece by piece while verifying it.
///
/// The last piece is returned only after the whole body has been verified, so that a damaged body is never taken for
/// a complete one; of a damaged body with one piece, nothing is returned.
package struct StoredBodyReader: Sendable {
    private let body: StoredBody
    /// The position of the next byte.
    private var position = 0
    private var checksum = CRC32C()
    /// The number of bytes returned.
    private(set) var delivered = 0

    package init(_ body: StoredBody) {
        self.body = body
    }

    /// A Boolean value that indicates whether the next piece, or the end, is known without reading the storage.
    var needsNoStorage: Bool {
        guard case .entry(_, let facts) = body else { return true }
        return position >= facts.length
    }

    /// Returns the next piece; `nil` at the end.
    package mutating func next() throws(StoredBodyError) -> [UInt8]? {
        let piece = try nextPiece()
        delivered += piece?.count ?? 0
        return piece
    }

    private mutating func nextPiece() throws(StoredBodyError) -> [UInt8]? {
        switch body {
        case .bytes(let bytes, _):
            guard position < bytes.count else { return nil }
            position = bytes.count
            return bytes
        case .entry(let entry, let facts):
            guard position < facts.length else { return nil }
            let longest = body.isShort ? facts.length : StoredBody.pieceLength
            let bytes = try Self.read(min(longest, facts.length - position), at: position, of: entry)
            checksum.update(bytes.span)
            position += bytes.count
            if position == facts.length, checksum != facts.checksum { throw .damaged }
            return bytes
        }
    }

    private static func read(
        _ count: Int, at offset: Int, of entry: (any ResponseStorageEntry)?
    ) throws(StoredBodyError) -> [UInt8] {
        guard let entry else { throw .unreadable }
        var bytes: [UInt8] = []
        while bytes.count < count {
            let rest = count - bytes.count
            let read: [UInt8]
            do {
                read = try entry.read(rest, at: offset + bytes.count)
            } catch ResponseStorageError.damaged {
                throw .damaged
            } catch {
                throw .unreadable
            }
            guard (1...rest).contains(read.count) else { throw .damaged }
            if bytes.isEmpty { bytes = read } else { bytes += read }
        }
        return bytes
    }
}
