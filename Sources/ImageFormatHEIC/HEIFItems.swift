#if HEIC
import ImageCodecs

/// The items of a file (ISO/IEC 14496-12, 8.11): images, tiles, and metadata.
enum HEIFItems {
    /// Returns whether `name` is anywhere in the boxes that describe the items.
    static func contains(_ name: StaticString, in file: Span<UInt8>) -> Bool {
        var isFound = false
        forEachBox("meta", in: file, 0..<file.count) { box in
            isFound = isFound || box.dropLast(3).contains { file.has(name, at: $0) }
        }
        return isFound
    }

    /// Passes the units in the configurations of decoders (`hvcC`; ISO/IEC 14496-15, 8.3.3.1) to `body`.
    static func forEachConfiguration(
        in file: Span<UInt8>, _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        var positions: [Int] = []
        forEachBox("meta", in: file, 0..<file.count) { box in
            positions += box.dropLast(3).filter { file.has("hvcC", at: $0) }
        }
        for position in positions {
            var start = position + 4 + 23
            for _ in 0..<(file.byte(at: start - 1) ?? 0) {
                let count = file.bigEndian16(at: start + 1) ?? 0
                start += 3
                for _ in 0..<count {
                    guard let length = file.bigEndian16(at: start), file.has(length, at: start + 2) else { break }
                    try body(file.extracting(start + 2..<start + 2 + length))
                    start += 2 + length
                }
            }
        }
    }

    /// Passes the data of each item to `body`.
    ///
    /// Throws `corrupt` if the places of the items are invalid, or the items overlap so much that they are longer than the
    /// file.
    static func forEachItem(
        in file: Span<UInt8>, _ body: (Span<UInt8>) throws(CodecError) -> Void
    ) throws(CodecError) {
        var tables: [Range<Int>] = []
        var data: [Range<Int>] = []
        forEachBox("meta", in: file, 0..<file.count) { box in
            // After the version and the flags.
            let content = min(box.lowerBound + 4, box.upperBound)..<box.upperBound
            forEachBox("iloc", in: file, content) { tables.append($0) }
            forEachBox("idat", in: file, content) { data.append($0) }
        }
        var remaining = file.count
        for table in tables {
            var places = ItemPlaces(file, table)
            while let extents = try places.next(itemData: data.first) {
                for extent in extents { remaining -= extent.count }
                guard remaining >= 0 else { throw .corrupt(.heic, "its items are longer than the file") }
                if extents.count == 1 {
                    try body(file.extracting(extents[0]))
                } else {
                    let item = extents.flatMap { extent in extent.map { file[$0] } }
                    try body(item.span)
                }
            }
        }
    }

    /// Passes the place of the content of each box of this name in `range` to `body`.
    private static func forEachBox(
        _ name: StaticString, in file: Span<UInt8>, _ range: Range<Int>, _ body: (Range<Int>) -> Void
    ) {
        var start = range.lowerBound
        while start + 8 <= range.upperBound, let length = file.bigEndian32(at: start) {
            var header = 8
            var end = start + max(length, 8)
            if length == 0 { end = range.upperBound }
            if length == 1 {
                header = 16
                guard file.bigEndian32(at: start + 8) == 0, let low = file.bigEndian32(at: start + 12) else { return }
                end = start + max(low, 16)
            }
            end = min(end, range.upperBound)
            if file.has(name, at: start + 4), start + header <= end { body(start + header..<end) }
            start = end
        }
    }
}

/// The places of items in a file, from an `iloc` box (ISO/IEC 14496-12, 8.11.3).
private struct ItemPlaces {
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

    /// Returns the places in the file of the parts of the next item; `nil` after the last one.
    mutating func next(itemData: Range<Int>?) throws(CodecError) -> [Range<Int>]? {
        guard remaining > 0 else { return nil }
        remaining -= 1
        _ = try number(version < 2 ? 2 : 4)
        let method = version == 0 ? 0 : try number(2) & 15
        _ = try number(2)  // the file
        let base = try number(widths.base)
        var extents: [Range<Int>] = []
        for _ in 0..<(try number(2)) {
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
        return extents
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
