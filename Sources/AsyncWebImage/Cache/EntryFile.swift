/// The form of an entry's file: lengths and checksums, the body, the head.
///
/// A file that was cut, or has another byte anywhere, is not one. The head comes last, so that a body can grow.
enum EntryFile {
    static let prefixLength = 40
    /// How much is read and written at a time.
    static let pieceLength = 64 << 10

    static func prefix(_ kind: EntryKind, head: [UInt8], bodyLength: Int, bodyChecksum: Checksum) -> [UInt8] {
        var bytes = kind.magic
        bytes.append(head.count)
        bytes.append(bodyLength)
        bytes.append(Checksum(of: head).number)
        bytes.append(bodyChecksum.number)
        return bytes
    }

    /// What a file holds; nil if it is not whole, or of another kind.
    ///
    /// The body is read once to make sure, and again when it is used.
    static func read(_ kind: EntryKind, _ file: OpenFile) -> StoredResponse? {
        guard let size = file.size, let prefix = try? file.read(prefixLength, at: 0), prefix.count == prefixLength,
            prefix.starts(with: kind.magic)
        else { return nil }
        var reader = ByteFieldReader(Array(prefix.dropFirst(kind.magic.count)))
        guard let headLength = reader.number(), let bodyLength = reader.number(), let headChecksum = reader.number(),
            let bodyChecksum = reader.number(), headLength <= StoredHead.byteLimit, bodyLength <= size,
            prefixLength + headLength + bodyLength == size,
            let bytes = try? file.read(headLength, at: prefixLength + bodyLength),
            Checksum(of: bytes).number == headChecksum, let head = StoredHead(bytes)
        else { return nil }
        var checksum = Checksum()
        var position = 0
        do {
            while let piece = try piece(of: file, bodyLength, &position) { checksum.add(piece) }
        } catch {
            return nil
        }
        guard checksum.number == bodyChecksum else { return nil }
        return StoredResponse(head: head, body: .file(file, length: bodyLength, checksum: checksum))
    }

    /// The piece at `position` of a body of `length` bytes, which moves on; nil at the end.
    static func piece(of file: OpenFile, _ length: Int, _ position: inout Int) throws(FileFailure) -> [UInt8]? {
        guard position < length else { return nil }
        let count = min(pieceLength, length - position)
        let bytes = try file.read(count, at: prefixLength + position)
        guard bytes.count == count else { throw FileFailure(code: 0) }
        position += count
        return bytes
    }
}

/// The bytes of a stored body, read piece by piece.
enum StoredBody: Sendable {
    case file(OpenFile, length: Int, checksum: Checksum)
    case memory([[UInt8]], length: Int)

    var length: Int {
        switch self {
        case .file(_, let length, _), .memory(_, let length): length
        }
    }

    /// The piece at `position`, which moves on; nil at the end.
    ///
    /// Positions begin with 0, and mean something to the body only.
    func next(_ position: inout Int) throws(FileFailure) -> [UInt8]? {
        switch self {
        case .memory(let pieces, _):
            guard position < pieces.count else { return nil }
            defer { position += 1 }
            return pieces[position]
        case .file(let file, let length, _):
            return try EntryFile.piece(of: file, length, &position)
        }
    }
}

/// FNV-1a of 64 bits, of which 63 are kept: finds damage, not malice.
struct Checksum: Sendable, Equatable {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    init() {}

    init(of bytes: [UInt8]) {
        add(bytes)
    }

    mutating func add(_ bytes: [UInt8]) {
        var state = state
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
        self.state = state
    }

    /// Never negative.
    var number: Int { Int(truncatingIfNeeded: state >> 1) }
}
