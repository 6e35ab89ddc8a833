import ImageCodecs

/// An ICO made of images.
enum TestICO {
    struct Entry {
        var size: PixelSize
        var bits = 32
        var colorCount = 0
        var data: [UInt8]
    }

    /// Returns a file of these images.
    static func file(_ entries: [Entry]) -> [UInt8] {
        var file: [UInt8] = []
        func put(_ value: Int, bytes: Int) {
            for index in 0..<bytes { file.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
        }
        for value in [0, 1, entries.count] { put(value, bytes: 2) }
        var offset = 6 + entries.count * 16
        for entry in entries {
            put(entry.size.width, bytes: 1)
            put(entry.size.height, bytes: 1)
            for value in [entry.colorCount, 1, entry.bits] { put(value, bytes: 2) }
            put(entry.data.count, bytes: 4)
            put(offset, bytes: 4)
            offset += entry.data.count
        }
        return file + entries.flatMap(\.data)
    }

    /// Returns an image of 32 bits per pixel, with an empty mask.
    static func entry(_ image: PixelBuffer) -> Entry {
        let rows = (0..<image.height).map { y in
            (0..<image.width).flatMap { x -> [UInt8] in
                let pixel = (y * image.width + x) * 4
                return [2, 1, 0, 3].map { image.bytes[pixel + $0] }
            }
        }
        let mask = [UInt8](repeating: 0, count: (image.width + 31) / 32 * 4 * image.height)
        let bmp = TestBMP(
            width: image.width, height: image.height, bits: 32, data: TestBMP.fromBottom(rows) + mask)
        return Entry(size: image.size, data: bmp.bitmap(heightFactor: 2))
    }
}
