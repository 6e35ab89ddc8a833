import ImageCodecs

/// A BMP made field by field.
struct TestBMP {
    var width: Int
    /// The height; negative if the first row is the top one.
    var height: Int
    var bits: Int
    var compression = 0
    var headerLength = 40
    /// The masks of red, green, blue, and perhaps alpha.
    var masks: [Int] = []
    /// RGB colors.
    var palette: [[UInt8]] = []
    /// The number of bytes between the palette and the pixels.
    var gap = 0
    /// The pixels as stored.
    var data: [UInt8] = []

    /// The header of the bitmap, with the palette and the pixels, as in an icon if its height is doubled.
    func bitmap(heightFactor: Int = 1) -> [UInt8] {
        let isCore = headerLength == 12
        var fields: [UInt8] = []
        func put(_ value: Int, bytes: Int) {
            for index in 0..<bytes { fields.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        put(headerLength, bytes: 4)
        put(width, bytes: isCore ? 2 : 4)
        put(height * heightFactor, bytes: isCore ? 2 : 4)
        put(1, bytes: 2)
        put(bits, bytes: 2)
        if !isCore {
            for value in [compression, data.count, 2_835, 2_835, palette.count, 0] { put(value, bytes: 4) }
            for mask in masks { put(mask, bytes: 4) }
        }
        while fields.count < headerLength { fields.append(0) }
        // The masks of an old header follow it.
        let length = headerLength < 52 && !isCore ? 40 + masks.count * 4 : headerLength
        fields = Array(fields.prefix(headerLength < 40 ? headerLength : max(length, headerLength)))
        for color in palette { fields += [color[2], color[1], color[0]] + (isCore ? [] : [0]) }
        return fields + [UInt8](repeating: 0xEE, count: gap) + data
    }

    /// The file.
    func file() -> [UInt8] {
        let bitmap = bitmap()
        let offset = 14 + bitmap.count - data.count
        var head = Array("BM".utf8)
        for value in [14 + bitmap.count, 0, offset] {
            for index in 0..<4 { head.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        return head + bitmap
    }

    /// Returns rows, given from the top, each padded to a multiple of 4 bytes, from the bottom.
    static func fromBottom(_ rows: [[UInt8]]) -> [UInt8] {
        rows.reversed().flatMap { $0 + [UInt8](repeating: 0, count: (4 - $0.count % 4) % 4) }
    }

    /// Returns a file with 24 or 32 bits per pixel, which shows `image`.
    static func file(_ image: PixelBuffer, bits: Int = 24, isTopDown: Bool = false) -> [UInt8] {
        var rows: [[UInt8]] = []
        for y in 0..<image.height {
            rows.append(
                (0..<image.width).flatMap { x in
                    let pixel = (y * image.width + x) * 4
                    return [2, 1, 0, 3].prefix(bits / 8).map { image.bytes[pixel + $0] }
                })
        }
        if isTopDown { rows.reverse() }
        return TestBMP(
            width: image.width, height: isTopDown ? -image.height : image.height, bits: bits,
            data: fromBottom(rows)
        ).file()
    }
}
