import ImageCodecs

/// Encodes JPEG; gray images with a single channel.
struct JPEGEncoder: ImageEncoder {
    let format = ImageFormat.jpeg
    let storesTransparency = false
    let options: JPEGOptions

    init(_ options: JPEGOptions) {
        self.options = options
    }

    var identity: String { "jpeg \(options.quality) \(options.chroma?.rawValue ?? "-") \(options.isProgressive)" }

    var adjustableQuality: Int? { options.usableQuality }

    func with(quality: Int) -> JPEGEncoder {
        var options = options
        options.quality = quality
        return JPEGEncoder(options)
    }

    func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int {
        // The file is up to three times in memory; above a quality of 89, all samples of chroma are kept.
        let perPixel = options.quality < 90 && options.chroma != .full ? 3 : options.quality <= 95 ? 8 : 13
        return size.area * (perPixel + (options.isProgressive ? 6 : 0))
    }

    /// Returns the encoded image, with transparent parts blended over white.
    ///
    /// Throws `encodingFailed` if the image has more than 65,500 pixels per side, or if the metadata is too long.
    func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8] {
        guard let width = UInt32(exactly: pixels.width), let height = UInt32(exactly: pixels.height) else {
            throw .encodingFailed(.jpeg, "\(pixels.size) is too large")
        }
        // A color profile is invalid for a single channel.
        let isGray = pixels.isGray && metadata.profileColors != .rgb
        let encoder = try JPEGEncoderHandle(width: width, height: height, options: options, isGray: isGray)
        let segments = try metadata.jpegSegments(isGray: isGray)
        try encoder.begin()
        for (marker, content) in segments { try encoder.write(segment: marker, content) }
        let rowBytes = pixels.width * 4
        var flattened = [UInt8](repeating: 255, count: rowBytes)
        for y in 0..<pixels.height {
            let row = pixels.bytes.span.extracting(y * rowBytes..<(y + 1) * rowBytes)
            if Self.isOpaque(row) {
                try encoder.write(row)
            } else {
                Self.flatten(row, into: &flattened)
                try encoder.write(flattened.span)
            }
        }
        let file = try encoder.finish()
        return metadata.gainMap.map { UltraHDRFile.bytes(of: file, gainMap: $0) } ?? file
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
