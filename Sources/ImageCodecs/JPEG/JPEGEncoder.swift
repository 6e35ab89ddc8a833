/// Writes JPEG: 4:2:0 below quality 90 and 4:4:4 from there on; grey images as one channel.
enum JPEGEncoder {
    /// The image as a file, transparent parts over white.
    ///
    /// `quality` is 1 to 100, values outside count as the nearer end. Throws `encodingFailed` if the image has no
    /// pixels or more than 65,500 a side.
    static func encode(
        _ pixels: PixelBuffer, quality: Int, progressive: Bool = false
    ) throws(CodecError) -> [UInt8] {
        guard let width = UInt32(exactly: pixels.width), let height = UInt32(exactly: pixels.height) else {
            throw .encodingFailed(.jpeg, "\(pixels.size) is too large")
        }
        let quality = min(max(quality, 1), 100)
        let encoder = try JPEGEncoderHandle(
            width: width, height: height, quality: UInt32(quality), isProgressive: progressive,
            hasFullChroma: quality >= 90, isGrey: pixels.isGrey)
        try encoder.begin()
        let rowBytes = pixels.width * 4
        var flattened = [UInt8](repeating: 255, count: rowBytes)
        for y in 0..<pixels.height {
            let row = pixels.bytes.span.extracting(y * rowBytes..<(y + 1) * rowBytes)
            if isOpaque(row) {
                try encoder.write(row)
            } else {
                flatten(row, into: &flattened)
                try encoder.write(flattened.span)
            }
        }
        return try encoder.finish()
    }

    private static func isOpaque(_ row: Span<UInt8>) -> Bool {
        var least: UInt8 = 255
        for alpha in stride(from: 3, to: row.count, by: 4) { least = min(least, row[alpha]) }
        return least == 255
    }

    private static func flatten(_ row: Span<UInt8>, into result: inout [UInt8]) {
        for pixel in stride(from: 0, to: row.count, by: 4) {
            let alpha = Int(row[pixel + 3])
            for channel in pixel..<pixel + 3 {
                result[channel] = UInt8((Int(row[channel]) * alpha + 255 * (255 - alpha) + 127) / 255)
            }
        }
    }
}

extension PixelBuffer {
    /// Whether red, green and blue are the same everywhere.
    fileprivate var isGrey: Bool {
        let bytes = bytes.span
        for pixel in stride(from: 0, to: bytes.count, by: 4)
        where bytes[pixel] != bytes[pixel + 1] || bytes[pixel] != bytes[pixel + 2] {
            return false
        }
        return true
    }
}
