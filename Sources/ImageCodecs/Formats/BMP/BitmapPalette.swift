/// The colors of an indexed bitmap.
struct BitmapPalette: Sendable {
    /// RGBA colors; those that the file does not define are black.
    private var colors = [UInt8](repeating: 0, count: 256 * 4)

    /// Creates a palette of entries of `entryBytes` bytes in the order blue, green, red.
    init(_ entries: Span<UInt8>, entryBytes: Int) {
        for index in 0..<256 {
            colors[index * 4 + 3] = 255
            guard index * entryBytes + 3 <= entries.count else { continue }
            for channel in 0..<3 { colors[index * 4 + channel] = entries[index * entryBytes + 2 - channel] }
        }
    }

    /// Writes the color of `index` to the pixel at `offset`.
    func write(_ index: Int, to target: inout [UInt8], at offset: Int) {
        for channel in 0..<4 { target[offset + channel] = colors[index * 4 + channel] }
    }

    /// Converts indices of `bits` bits to RGBA.
    func convert(_ row: Span<UInt8>, bits: Int, into target: inout [UInt8]) {
        let colors = colors.span
        var target = target.mutableSpan
        let perByte = 8 / bits
        let mask = 1 << bits - 1
        for pixel in 0..<target.count / 4 {
            let byte = Int(row[pixel / perByte])
            let index = byte >> (8 - bits - pixel % perByte * bits) & mask
            for channel in 0..<4 { target[pixel * 4 + channel] = colors[index * 4 + channel] }
        }
    }
}
