import Hashing

/// The file of a head updated by a 304, which takes precedence over the one stored with the body.
///
/// A separate file, so that an update neither writes the body again nor changes a file that others read: it is
/// written under another name and renamed, and is therefore always complete. It identifies the body that it belongs
/// to, because the entry can have been replaced in the meantime.
enum RenewedHeadFile {
    private static let magic = Array("awichea3".utf8)
    private static let suffix = ".head"
    private static let prefixLength = 20

    /// Returns the name of the file that belongs to an entry.
    static func name(_ entry: String) -> String { entry + suffix }

    /// Returns the name of the entry that a file belongs to; `nil` for other files.
    static func entry(_ name: String) -> String? {
        guard name.hasSuffix(suffix) else { return nil }
        let entry = String(name.dropLast(suffix.count))
        return EntryKind(entry) == .whole ? entry : nil
    }

    static func bytes(_ head: StoredHead, of body: EntryFile.BodyFacts) -> [UInt8] {
        let head = head.bytes
        var bytes = magic
        bytes.append(body.identity)
        var checksum = CRC32()
        checksum.update(bytes.span)
        checksum.update(head.span)
        bytes.append(checksum.value)
        return bytes + head
    }

    /// Returns the head in a file for a body; `nil` if it has none for that body.
    static func read(_ file: OpenFile, of body: EntryFile.BodyFacts) -> StoredHead? {
        guard let size = file.size, (prefixLength...prefixLength + StoredHead.maximumBytes).contains(size),
            let bytes = try? file.read(size, at: 0), bytes.count == size, bytes.starts(with: magic)
        else { return nil }
        var reader = ByteFieldReader(Array(bytes[magic.count..<prefixLength]))
        let (beginning, head) = (Array(bytes[..<(prefixLength - 4)]), Array(bytes[prefixLength...]))
        var checksum = CRC32()
        checksum.update(beginning.span)
        checksum.update(head.span)
        guard reader.number() == body.identity, reader.number32() == checksum.value else { return nil }
        return StoredHead(head)
    }
}
