import Hashing

/// The format of an entry's file: a region with the head, then the body.
///
/// The region begins with a prefix: a mark with the version of the format, the identity and the length of the body, the
/// length of the region, the CRC-32C of the body, and the CRC-32C of all these fields. Two slots for heads follow, each
/// with a sequence number, the length of the head, a CRC-32C, and the head. The newest undamaged head is the entry's.
/// A head is updated in the other slot, so that there is a complete one at any time. A truncated file, or a changed byte
/// in the prefix or all heads, is detected when the file is opened; a changed byte in the body when it is read to its end.
package enum EntryFile {
    /// The length of the region for usual heads; for longer heads, the length is a power of two.
    static let usualRegionLength = 2 << 10
    static let prefixLength = 36
    private static let magicLength = 8
    private static let slotsOffset = 64
    private static let slotPrefixLength = 16

    /// The properties of the body in the prefix.
    struct Layout: Sendable {
        let body: BodyFacts
        /// The position of the body in the file.
        let offset: Int

        /// The size of the file.
        var fileSize: Int { offset + body.length }
    }

    /// A head in its slot.
    struct Slot: Sendable {
        let number: Int
        let sequence: Int
    }

    /// An entry as read from a file, without its body.
    struct Contents {
        let head: StoredHead
        let slot: Slot
        let layout: Layout
    }

    /// Returns the length of the region for a head of `count` bytes, with some room for it to grow; `nil` if the head is
    /// too long.
    static func regionLength(forHead count: Int) -> Int? {
        guard count <= StoredHead.maximumBytes else { return nil }
        var length = usualRegionLength
        while slotLength(length) < slotPrefixLength + count + count / 8 { length *= 2 }
        return length
    }

    private static func slotLength(_ region: Int) -> Int { (region - slotsOffset) / 2 }

    /// Returns the first bytes of a file with an entry of a kind, which include the version of the format.
    private static func magic(_ kind: EntryKind) -> [UInt8] {
        switch kind {
        case .whole: Array("awicach5".utf8)
        case .part: Array("awicprt5".utf8)
        case .result: Array("awicres5".utf8)
        }
    }

    // MARK: Writing

    /// Returns the region of an entry with one head.
    static func region(_ kind: EntryKind, head: [UInt8], _ layout: Layout) -> [UInt8] {
        var bytes = magic(kind)
        bytes.reserveCapacity(layout.offset)
        bytes.append(layout.body.identity)
        bytes.append(layout.body.length)
        bytes.append(UInt32(layout.offset))
        bytes.append(layout.body.checksum.value)
        bytes.append(CRC32C(of: bytes.span).value)
        bytes += repeatElement(0, count: slotsOffset - bytes.count)
        bytes += slot(head, sequence: 1, of: layout.body)
        bytes += repeatElement(0, count: layout.offset - bytes.count)
        return bytes
    }

    /// Returns the bytes of a new head and their position; `nil` if the head is too long for the region.
    static func update(_ head: [UInt8], of contents: Contents) -> (bytes: [UInt8], offset: Int)? {
        let (slot, layout) = (contents.slot, contents.layout)
        let bytes = Self.slot(head, sequence: slot.sequence &+ 1, of: layout.body)
        let length = slotLength(layout.offset)
        guard bytes.count <= length else { return nil }
        return (bytes, slotsOffset + (1 - slot.number) * length)
    }

    private static func slot(_ head: [UInt8], sequence: Int, of body: BodyFacts) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(slotPrefixLength + head.count)
        bytes.append(sequence)
        bytes.append(UInt32(head.count))
        bytes.append(checksum(sequence: sequence, head.span, of: body.identity))
        return bytes + head
    }

    private static func checksum(sequence: Int, _ head: Span<UInt8>, of identity: Int) -> UInt32 {
        var fields: [UInt8] = []
        fields.append(identity)
        fields.append(sequence)
        fields.append(UInt32(head.count))
        var checksum = CRC32C(of: fields.span)
        checksum.update(head)
        return checksum.value
    }

    // MARK: Reading

    /// Returns the newest head and the properties of the body; `nil` if the prefix or all heads are damaged, or the file
    /// is of another kind.
    ///
    /// The body is not read. If `isUnfinished`, the file can contain more than that. Throws an error if the file cannot be
    /// read.
    static func read(
        _ kind: EntryKind, _ file: OpenFile, isUnfinished: Bool = false
    ) throws(FileFailure) -> Contents? {
        let size = try file.size
        guard size >= usualRegionLength else { return nil }
        var region = try file.read(usualRegionLength, at: 0)
        guard region.count == usualRegionLength, let layout = layout(kind, region),
            layout.fileSize == size || isUnfinished && layout.fileSize < size
        else { return nil }
        if layout.offset > region.count {
            region = try file.read(layout.offset, at: 0)
            guard region.count == layout.offset else { return nil }
        }
        return contents(of: region, layout)
    }

    /// Returns the newest head and the properties of the body of a file of `fileSize` bytes, given its region; `nil` if
    /// the region does not have the usual length, or is not intact.
    static func contents(_ kind: EntryKind, _ region: [UInt8], fileSize: Int) -> Contents? {
        guard let layout = layout(kind, region), layout.fileSize == fileSize, layout.offset == region.count else {
            return nil
        }
        return contents(of: region, layout)
    }

    private static func layout(_ kind: EntryKind, _ region: [UInt8]) -> Layout? {
        guard region.starts(with: magic(kind)) else { return nil }
        var reader = ByteFieldReader(region, from: magicLength)
        guard let identity = reader.number(), let length = reader.number(), let offset = reader.number32(),
            let bodyChecksum = reader.number32(), let checksum = reader.number32(),
            CRC32C(of: region.span.extracting(..<(prefixLength - 4))).value == checksum,
            offset >= usualRegionLength, offset <= 4 * StoredHead.maximumBytes,
            length <= ResponseStorageHead.maximumBodyLength
        else { return nil }
        let body = BodyFacts(identity: identity, length: length, checksum: CRC32C(bodyChecksum))
        return Layout(body: body, offset: Int(offset))
    }

    private static func slot(
        _ number: Int, in region: [UInt8], _ layout: Layout
    ) -> (slot: Slot, head: Range<Int>)? {
        let length = slotLength(layout.offset)
        let start = slotsOffset + number * length
        var reader = ByteFieldReader(region, from: start)
        guard let sequence = reader.number(), sequence > 0, let count = reader.number32().map(Int.init),
            count <= length - slotPrefixLength, let checksum = reader.number32()
        else { return nil }
        let head = start + slotPrefixLength..<start + slotPrefixLength + count
        guard Self.checksum(sequence: sequence, region.span.extracting(head), of: layout.body.identity) == checksum
        else {
            return nil
        }
        return (Slot(number: number, sequence: sequence), head)
    }

    /// Returns the newest head with the other properties.
    private static func contents(of region: [UInt8], _ layout: Layout) -> Contents? {
        let slots = (0..<2).compactMap { slot($0, in: region, layout) }
        guard let newest = slots.max(by: { $0.slot.sequence < $1.slot.sequence }),
            let head = StoredHead(region, in: newest.head)
        else { return nil }
        return Contents(head: head, slot: newest.slot, layout: layout)
    }
}
