import Hashing

/// A stored response that can be served.
package struct StoredResponse: Sendable {
    /// The name of its entry.
    package let name: String
    package let head: StoredHead
    package let body: StoredBody

    /// The response without an open file.
    var closed: StoredResponse {
        guard case .file(_, let facts) = body else { return self }
        return StoredResponse(name: name, head: head, body: .file(nil, facts))
    }
}

/// The bytes of a stored body.
package enum StoredBody: Sendable {
    /// A file, which is closed when it is not being read.
    case file(OpenFile?, EntryFile.BodyFacts)
    case memory([[UInt8]], length: Int)

    var length: Int {
        switch self {
        case .file(_, let facts): facts.length
        case .memory(_, let length): length
        }
    }

    /// A Boolean value that indicates whether the body is undamaged; reads all of it.
    var isIntact: Bool {
        var reader = StoredBodyReader(self)
        do {
            while try reader.next() != nil {}
            return true
        } catch {
            return false
        }
    }
}

/// The error when a stored body is too short, unreadable, or changed.
package struct DamagedBody: Error {}

/// Reads a stored body piece by piece while verifying it.
///
/// The last piece is returned only after the whole body has been verified, so that a damaged body is never taken for
/// a complete one; of a damaged body with one piece, nothing is returned.
package struct StoredBodyReader: Sendable {
    private let body: StoredBody
    /// The number of the next piece in memory, or of the next byte in a file.
    private var position = 0
    private var checksum = CRC32()
    /// The number of bytes returned.
    private(set) var delivered = 0

    package init(_ body: StoredBody) {
        self.body = body
    }

    /// Returns the next piece; `nil` at the end.
    package mutating func next() throws(DamagedBody) -> [UInt8]? {
        let piece = try nextPiece()
        delivered += piece?.count ?? 0
        return piece
    }

    private mutating func nextPiece() throws(DamagedBody) -> [UInt8]? {
        switch body {
        case .memory(let pieces, _):
            guard position < pieces.count else { return nil }
            defer { position += 1 }
            return pieces[position]
        case .file(let file, let facts):
            guard position < facts.length else { return nil }
            let count = min(EntryFile.pieceLength, facts.length - position)
            guard let bytes = try? file?.read(count, at: EntryFile.prefixLength + position), bytes.count == count else {
                throw DamagedBody()
            }
            checksum.update(bytes.span)
            position += count
            if position == facts.length, checksum != facts.checksum { throw DamagedBody() }
            return bytes
        }
    }
}
