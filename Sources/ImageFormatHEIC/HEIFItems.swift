#if HEIC
import ImageCodecs

/// The items of a file (ISO/IEC 14496-12, 8.11): images, tiles, and metadata.
enum HEIFItems {
    /// Returns whether `name` is anywhere in the boxes that describe the items.
    static func contains(_ name: StaticString, in file: Span<UInt8>) -> Bool {
        var isFound = false
        ItemBoxes.forEachBox("meta", in: file, 0..<file.count) { box in
            isFound = isFound || box.dropLast(3).contains { file.has(name, at: $0) }
        }
        return isFound
    }

    /// Passes the units in the configurations of decoders (`hvcC`; ISO/IEC 14496-15, 8.3.3.1) to `body`.
    static func forEachConfiguration(
        in file: Span<UInt8>, _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        var positions: [Int] = []
        ItemBoxes.forEachBox("meta", in: file, 0..<file.count) { box in
            positions += box.dropLast(3).filter { file.has("hvcC", at: $0) }
        }
        // Names can also be parts of other data, but only boxes that overlap have more bytes than the file.
        var remaining = file.count
        for position in positions where position >= 4 {
            let length = file.bigEndian32(at: position - 4) ?? 0
            // To the end of the file, or with a longer header.
            let end = length < 2 ? file.count : min(position - 4 + length, file.count)
            var start = position + (length == 1 ? 12 : 4) + 23
            arrays: for _ in 0..<(file.byte(at: start - 1) ?? 0) {
                guard start + 3 <= end, let count = file.bigEndian16(at: start + 1) else { break }
                start += 3
                remaining -= 3
                for _ in 0..<count {
                    guard let length = file.bigEndian16(at: start), start + 2 + length <= end else { break arrays }
                    remaining -= 2 + length
                    guard remaining >= 0 else { throw .corrupt(.heic, "its configurations overlap") }
                    try body(file.extracting(start + 2..<start + 2 + length))
                    start += 2 + length
                }
                guard remaining >= 0 else { throw .corrupt(.heic, "its configurations overlap") }
            }
        }
    }

    /// Returns the number of tables of items in `file`: boxes `meta` outside of other boxes.
    static func tableCount(in file: Span<UInt8>) -> Int {
        var count = 0
        ItemBoxes.forEachBox("meta", in: file, 0..<file.count) { _ in count += 1 }
        return count
    }

    /// Passes the items from which each derived image is made (`dimg`) to `body`: the image, and one of its parts.
    static func forEachPart(in file: Span<UInt8>, _ body: (_ image: Int, _ part: Int) -> Void) {
        ItemBoxes.forEachTable("iref", in: file) { table in
            let width = file.byte(at: table.lowerBound) == 0 ? 2 : 4
            var start = table.lowerBound + 4
            func number(_ width: Int) -> Int? {
                guard start + width <= table.upperBound else { return nil }
                defer { start += width }
                return width == 2 ? file.bigEndian16(at: start) : file.bigEndian32(at: start)
            }
            // As libheif reads it: whatever the lengths of the boxes.
            while let length = number(4) {
                let isDerived = file.has("dimg", at: start)
                start += 4 + (length == 1 ? 8 : 0) + (file.has("uuid", at: start) ? 16 : 0)
                guard let image = number(width), let count = number(2) else { return }
                for _ in 0..<count {
                    guard let part = number(width) else { return }
                    if isDerived { body(image, part) }
                }
            }
        }
    }

    /// Passes the identifier and the data of each item to `body`.
    ///
    /// Throws `corrupt` if the places of the items are invalid, or the items overlap so much that they are longer than the
    /// file.
    static func forEachItem(
        in file: Span<UInt8>, _ body: (Int, Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        var tables: [Range<Int>] = []
        var data: [Range<Int>] = []
        ItemBoxes.forEachTable("iloc", in: file) { tables.append($0) }
        ItemBoxes.forEachTable("idat", in: file) { data.append($0) }
        var remaining = file.count
        for table in tables {
            var places = ItemPlaces(file, table)
            while let (identifier, extents) = try places.next(itemData: data.first) {
                for extent in extents { remaining -= extent.count }
                guard remaining >= 0 else { throw .corrupt(.heic, "its items are longer than the file") }
                if extents.count == 1 {
                    try body(identifier, file.extracting(extents[0]))
                } else {
                    let item = extents.flatMap { extent in extent.map { file[$0] } }
                    try body(identifier, item.span)
                }
            }
        }
    }
}

/// The places of items in a file, from an `iloc` box (ISO/IEC 14496-12, 8.11.3).
private struct ItemPlaces {
    /// The maximum number of parts of an item, as in libheif.
    private static let maximumParts = 32

    private let bytes: [UInt8]
    private let fileSize: Int
    private var position: Int
    private let version: Int
    /// The number of bytes of offsets, lengths, base offsets, and indexes.
    private let widths: (offset: Int, length: Int, base: Int, index: Int)
    private var remaining: Int

    init(_ file: Span<UInt8>, _ table: Range<Int>) {
        let bytes = table.map { file[$0] }
        let version = Int(bytes.first ?? 0)
        let sizes = bytes.span.bigEndian16(at: 4) ?? 0
        widths = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15, version == 0 ? 0 : sizes & 15)
        remaining = (version < 2 ? bytes.span.bigEndian16(at: 6) : bytes.span.bigEndian32(at: 6)) ?? 0
        fileSize = file.count
        self.bytes = bytes
        self.version = version
        position = version < 2 ? 8 : 10
    }

    /// Returns the identifier of the next item and the places of its parts in the file; `nil` after the last one.
    mutating func next(itemData: Range<Int>?) throws(CodecError) -> (identifier: Int, parts: [Range<Int>])? {
        guard remaining > 0 else { return nil }
        remaining -= 1
        let identifier = try number(version < 2 ? 2 : 4)
        let method = version == 0 ? 0 : try number(2) & 15
        _ = try number(2)  // the file
        let base = try number(widths.base)
        var extents: [Range<Int>] = []
        let count = try number(2)
        // Parts can be described by no bytes at all.
        guard count <= Self.maximumParts else { throw .corrupt(.heic, "an item in too many parts") }
        for _ in 0..<count {
            _ = try number(widths.index)
            let (offset, length) = (try number(widths.offset), try number(widths.length))
            let range: Range<Int>
            switch method {
            case 0: range = 0..<fileSize
            case 1: range = itemData ?? 0..<0
            // libheif does not support items in other items.
            default: continue
            }
            let start = min(range.lowerBound + base + offset, range.upperBound)
            extents.append(start..<min(start + length, range.upperBound))
        }
        return (identifier, extents)
    }

    /// Reads a number of `width` bytes: at most 8, of which the first four must be 0.
    private mutating func number(_ width: Int) throws(CodecError) -> Int {
        guard width <= 8, bytes.span.has(width, at: position) else {
            throw .corrupt(.heic, "the table of its items is incomplete")
        }
        var value = 0
        for index in position..<position + width { value = value << 8 | Int(bytes[index]) }
        position += width
        guard (0...1 << 40).contains(value) else { throw .corrupt(.heic, "an item is outside of the file") }
        return value
    }
}
#endif
