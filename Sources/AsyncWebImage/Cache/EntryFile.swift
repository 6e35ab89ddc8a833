/// The form of an entry's file: lengths and checksums, the head, the body.
///
/// A file that was cut, or has another byte anywhere, is not one.
enum EntryFile {
    /// Also says which version of the form it is.
    static let magic = Array("awicach1".utf8)
    static let prefixLength = 40
    /// How much is read and written at a time.
    static let pieceLength = 64 << 10

    static func prefix(head: [UInt8], bodyLength: Int, bodyChecksum: Checksum) -> [UInt8] {
        var bytes = magic
        bytes.append(head.count)
        bytes.append(bodyLength)
        bytes.append(Checksum(of: head).number)
        bytes.append(bodyChecksum.number)
        return bytes
    }

    /// What a file holds; nil if it is not whole.
    ///
    /// The body is read once to make sure, and again when it is used.
    static func read(_ file: OpenFile) -> (head: StoredHead, body: StoredBody)? {
        guard let size = file.size, let prefix = try? file.read(prefixLength, at: 0), prefix.count == prefixLength,
            Array(prefix.prefix(magic.count)) == magic
        else { return nil }
        var reader = ByteFieldReader(Array(prefix.dropFirst(magic.count)))
        guard let headLength = reader.number(), let bodyLength = reader.number(), let headChecksum = reader.number(),
            let bodyChecksum = reader.number(), headLength <= StoredHead.byteLimit, bodyLength <= size,
            prefixLength + headLength + bodyLength == size,
            let bytes = try? file.read(headLength, at: prefixLength), Checksum(of: bytes).number == headChecksum,
            let head = StoredHead(bytes)
        else { return nil }
        let body = StoredBody.file(file, offset: prefixLength + headLength, length: bodyLength)
        var checksum = Checksum()
        var position = 0
        do {
            while let piece = try body.next(&position) { checksum.add(piece) }
        } catch {
            return nil
        }
        return checksum.number == bodyChecksum ? (head, body) : nil
    }
}

/// The bytes of a stored body, read piece by piece.
enum StoredBody: Sendable {
    case file(OpenFile, offset: Int, length: Int)
    case memory([[UInt8]], length: Int)

    var length: Int {
        switch self {
        case .file(_, _, let length), .memory(_, let length): length
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
        case .file(let file, let offset, let length):
            guard position < length else { return nil }
            let count = min(EntryFile.pieceLength, length - position)
            let bytes = try file.read(count, at: offset + position)
            guard bytes.count == count else { throw FileFailure(code: 0) }
            position += count
            return bytes
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
