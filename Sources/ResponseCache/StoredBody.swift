import Hashing

/// A stored response that can be served.
package struct StoredResponse: Sendable {
    /// The name of its entry.
    package let name: String
    package let head: StoredHead
    package let body: StoredBody

    /// The response without an open file or bytes read from it.
    var closed: StoredResponse {
        guard let facts = body.facts else { return self }
        return StoredResponse(name: name, head: head, body: .file(nil, facts))
    }
}

/// The bytes of a stored body.
package enum StoredBody: Sendable {
    /// A file, which is closed when it is not being read.
    case file(OpenFile?, EntryFile.BodyFacts)
    /// The verified bytes of a file.
    case loaded([UInt8], EntryFile.BodyFacts)
    case memory([[UInt8]], length: Int)

    package var length: Int {
        switch self {
        case .file(_, let facts), .loaded(_, let facts): facts.length
        case .memory(_, let length): length
        }
    }

    /// The properties of a body in a file.
    var facts: EntryFile.BodyFacts? {
        switch self {
        case .file(_, let facts), .loaded(_, let facts): facts
        case .memory: nil
        }
    }

    /// A Boolean value that indicates whether the body is read at once: it is served faster than in pieces.
    var isShort: Bool { length <= EntryFile.pieceLength }

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
    private var checksum = CRC32C()
    /// The number of bytes returned.
    private(set) var delivered = 0

    package init(_ body: StoredBody) {
        self.body = body
    }

    /// A Boolean value that indicates whether the next piece, or the end, is known without reading a file.
    var needsNoFile: Bool {
        guard case .file(_, let facts) = body else { return true }
        return position >= facts.length
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
        case .loaded(let bytes, _):
            guard position < bytes.count else { return nil }
            position = bytes.count
            return bytes
        case .file(let file, let facts):
            guard position < facts.length else { return nil }
            let count = min(EntryFile.pieceLength, facts.length - position)
            guard let bytes = try? file?.read(count, at: facts.offset + position), bytes.count == count else {
                throw DamagedBody()
            }
            checksum.update(bytes.span)
            position += count
            if position == facts.length, checksum != facts.checksum { throw DamagedBody() }
            return bytes
        }
    }
}
