import Hashing

/// The format of an entry's file: a prefix of 40 bytes, the body, the head.
///
/// The prefix contains a mark with the version of the format, the body's identity, the lengths of body and head, the
/// CRC-32 of the body, and the CRC-32 of all these fields and the head. A truncated file, or a changed byte in prefix
/// or head, is detected when the file is opened; a changed byte in the body when it is read to its end. The head
/// comes last, so that a body can grow.
package enum EntryFile {
    static let prefixLength = 40
    /// The number of bytes read and written at a time.
    static let pieceLength = 64 << 10

    /// The properties of the body in the prefix.
    package struct BodyFacts: Sendable, Equatable {
        /// A number that is different for every stored body.
        let identity: Int
        let length: Int
        let checksum: CRC32
    }

    static func prefix(_ kind: EntryKind, head: [UInt8], body: BodyFacts) -> [UInt8] {
        var bytes = kind.magic
        bytes.append(body.identity)
        bytes.append(body.length)
        bytes.append(head.count)
        bytes.append(body.checksum.value)
        bytes.append(checksum(bytes, head))
        return bytes
    }

    /// Returns the head and body of a file; `nil` if prefix or head are damaged, or the file is of another kind.
    ///
    /// The body is not read.
    static func read(_ kind: EntryKind, _ file: OpenFile) -> (head: StoredHead, body: BodyFacts)? {
        guard let size = file.size, let prefix = try? file.read(prefixLength, at: 0), prefix.count == prefixLength,
            prefix.starts(with: kind.magic)
        else { return nil }
        var reader = ByteFieldReader(Array(prefix.dropFirst(kind.magic.count)))
        guard let identity = reader.number(), let bodyLength = reader.number(), let headLength = reader.number(),
            let bodyChecksum = reader.number32(), let checksum = reader.number32(),
            headLength <= StoredHead.maximumBytes, bodyLength <= size, prefixLength + headLength + bodyLength == size,
            let bytes = try? file.read(headLength, at: prefixLength + bodyLength),
            Self.checksum(prefix.dropLast(4), bytes) == checksum, let head = StoredHead(bytes)
        else { return nil }
        return (head, BodyFacts(identity: identity, length: bodyLength, checksum: CRC32(bodyChecksum)))
    }

    private static func checksum(_ prefix: some Collection<UInt8>, _ head: [UInt8]) -> UInt32 {
        var checksum = CRC32()
        checksum.update(Array(prefix).span)
        checksum.update(head.span)
        return checksum.value
    }
}
