import ImageCodecs

/// Changes the boxes that describe the items of an AVIF or HEIC file (ISO/IEC 14496-12, 8.11), which precede the data.
package enum TestItems {
    private static let identifier = 0x7000

    /// Returns `file` with a further item of `type`, whose data are 8 bytes at its end.
    package static func adding(item type: String, to file: [UInt8]) throws -> [UInt8] {
        var file = try appending(
            box("infe", [2, 0, 0, 0] + number(identifier, 2) + [0, 0] + Array(type.utf8) + [0]), to: ["iinf"], of: file)
        let items = try content(of: ["iinf"], in: file).lowerBound
        increase(&file, at: items + 4, width: file[items] == 0 ? 2 : 4, by: 1)
        file += box("free", number(0, 8))
        return try addingPlace(to: file, of: 8)
    }

    /// Returns `file` with a further property of images, which no item has: that of auxiliary images of this type.
    package static func adding(auxiliaryType type: String, to file: [UInt8]) throws -> [UInt8] {
        try appending(box("auxC", number(0, 4) + Array(type.utf8) + [0]), to: ["iprp", "ipco"], of: file)
    }

    /// Returns `file` with the place of an item that consists of the last `count` bytes.
    private static func addingPlace(to file: [UInt8], of count: Int) throws -> [UInt8] {
        let table = try content(of: ["iloc"], in: file).lowerBound
        let (version, widths) = (Int(file[table]), widths(file, table))
        func place(_ size: Int) -> [UInt8] {
            number(identifier, version < 2 ? 2 : 4) + number(0, version == 0 ? 2 : 4) + number(0, widths.base)
                + number(1, 2) + number(0, widths.index) + number(size - count, widths.offset)
                + number(count, widths.length)
        }
        var result = try appending(place(0), to: ["iloc"], of: file)
        let end = try content(of: ["iloc"], in: result).upperBound
        let last = place(result.count)
        result.replaceSubrange(end - last.count..<end, with: last)
        increase(&result, at: table + 6, width: version < 2 ? 2 : 4, by: 1)
        return result
    }

    /// Returns `file` with `bytes` at the end of the box at `path` in the box `meta`, and with the places of all items moved.
    private static func appending(_ bytes: [UInt8], to path: [String], of file: [UInt8]) throws -> [UInt8] {
        var file = file
        let end = try content(of: path, in: file).upperBound
        for depth in 0...path.count {
            let start = try content(of: Array(path.prefix(depth)), in: file).lowerBound - 8
            increase(&file, at: depth == 0 ? start - 4 : start, width: 4, by: bytes.count)
        }
        let table = try content(of: ["iloc"], in: file).lowerBound
        let (version, widths) = (Int(file[table]), widths(file, table))
        var position = table + (version < 2 ? 8 : 10)
        let count = read(file, table + 6, version < 2 ? 2 : 4)
        for _ in 0..<count {
            position += version < 2 ? 2 : 4
            let method = version == 0 ? 0 : read(file, position, 2) & 15
            position += (version == 0 ? 0 : 2) + 2
            let base = position
            position += widths.base
            let parts = read(file, position, 2)
            position += 2
            for _ in 0..<parts {
                position += widths.index
                // Of items in the file itself.
                if method == 0, read(file, base, widths.base) == 0 {
                    increase(&file, at: position, width: widths.offset, by: bytes.count)
                }
                position += widths.offset + widths.length
            }
            if method == 0, read(file, base, widths.base) > 0 {
                increase(&file, at: base, width: widths.base, by: bytes.count)
            }
        }
        file.insert(contentsOf: bytes, at: end)
        return file
    }

    /// Returns the content of the box at `path` in the box `meta`; with an empty path, the one of that box after its
    /// version.
    private static func content(of path: [String], in file: [UInt8]) throws -> Range<Int> {
        var range = try child("meta", of: 0..<file.count, in: file)
        range = range.lowerBound + 4..<range.upperBound
        for name in path { range = try child(name, of: range, in: file) }
        return range
    }

    private static func child(_ name: String, of range: Range<Int>, in file: [UInt8]) throws -> Range<Int> {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = start + read(file, start, 4)
            if file[start + 4..<start + 8].elementsEqual(name.utf8) { return start + 8..<end }
            start = max(end, start + 8)
        }
        return try Range<Int>?.none.unwrapped()
    }

    private static func widths(_ file: [UInt8], _ table: Int) -> (offset: Int, length: Int, base: Int, index: Int) {
        let sizes = read(file, table + 4, 2)
        return (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15, file[table] == 0 ? 0 : sizes & 15)
    }

    private static func increase(_ file: inout [UInt8], at position: Int, width: Int, by count: Int) {
        file.replaceSubrange(
            position..<position + width, with: number(read(file, position, width) + count, width))
    }

    private static func read(_ file: [UInt8], _ position: Int, _ width: Int) -> Int {
        file[position..<position + width].reduce(0) { $0 << 8 | Int($1) }
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        number(content.count + 8, 4) + Array(name.utf8) + content
    }

    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
