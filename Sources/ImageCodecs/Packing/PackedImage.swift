/// A decoded image as bytes, from which exactly the same image results.
///
/// The bytes are a mark with the version of the format, the length of the properties, the properties, and the rows. An
/// opaque image is packed without its alpha. Pixels are not compressed further: unpacking is little more than copying.
package enum PackedImage {
    static let magic = Array("awimage2".utf8)
    static let prefixLength = 12
    /// The maximum length of the properties, most of which can be a color profile.
    static let maximumPropertyBytes = 8 << 20
    /// The maximum number of pixels along one side.
    static let maximumSide = 1 << 20

    /// Returns the packed image; `nil` if it is an animation, partial, of a custom format, without pixels, or has more
    /// than 8 bits per channel.
    package static func bytes(of image: DecodedImage) -> [UInt8]? {
        guard canPack(image) else { return nil }
        let properties = properties(of: image)
        guard properties.count <= maximumPropertyBytes else { return nil }
        let pixels = image.pixels
        let omitsAlpha = pixels.format.bytesPerPixel == 4 && pixels.isOpaque
        var bytes = magic
        let count = omitsAlpha ? pixels.size.area * 3 : pixels.bytes.count
        bytes.reserveCapacity(prefixLength + properties.count + 1 + count)
        bytes.append(packed: UInt32(properties.count + 1))
        bytes += properties
        bytes.append(omitsAlpha ? 1 : 0)
        if omitsAlpha {
            bytes.append(withoutAlpha: pixels.bytes)
        } else {
            bytes += pixels.bytes
        }
        return bytes
    }

    /// Returns whether an image can be packed.
    package static func canPack(_ image: DecodedImage) -> Bool {
        let (header, size) = (image.header, image.pixels.size)
        return !image.isPartial && header.frameCount == 1 && !header.hasInvalidAnimation
            && ImageFormat.allBuiltIn.contains(header.format) && image.pixels.format.bytesPerPixel <= 4
            && (1...maximumSide).contains(size.width) && (1...maximumSide).contains(size.height)
    }

    private static func properties(of image: DecodedImage) -> [UInt8] {
        let header = image.header
        var bytes: [UInt8] = []
        bytes.append(packed: image.pixels.format.rawValue)
        for size in [image.pixels.size, image.originalSize, image.visibleSize, header.size] {
            bytes.append(packed: size)
        }
        bytes.append(packed: image.completeRows)
        bytes.append(packed: header.format.identifier)
        bytes.append(packed: header.orientation.rawValue)
        bytes.append(packed: header.bitsPerChannel)
        bytes.append(packed: header.colorChannels)
        bytes.append(packed: header.colorConversion.rawValue)
        bytes.append(packed: header.tableBytes)
        bytes.append(packed: header.memoryUsage)
        let flags = [
            header.hasAlpha, header.isProgressive, header.hasTrailingOrientation, header.isGray,
            header.hasSeparateScans, header.colorProfile != nil, image.iccProfile != nil,
        ]
        bytes += flags.map { $0 ? 1 : 0 }
        bytes.append(packed: header.sampling.count)
        for factors in header.sampling {
            bytes.append(packed: PixelSize(width: factors.horizontal, height: factors.vertical))
        }
        bytes.append(packed: header.warnings.map(\.rawValue).sorted().joined(separator: " "))
        bytes.append(packed: header.colorProfile ?? "")
        bytes.append(packed: image.iccProfile ?? [])
        return bytes
    }
}

extension [UInt8] {
    fileprivate mutating func append(packed number: UInt32) {
        for shift in stride(from: 0, to: 32, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    fileprivate mutating func append(packed number: Int) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    fileprivate mutating func append(packed size: PixelSize) {
        append(packed: size.width)
        append(packed: size.height)
    }

    fileprivate mutating func append(packed bytes: [UInt8]) {
        append(packed: bytes.count)
        self += bytes
    }

    fileprivate mutating func append(packed text: String) { append(packed: Array(text.utf8)) }

    /// Appends the first three bytes of each pixel of four.
    fileprivate mutating func append(withoutAlpha pixels: [UInt8]) {
        let pixels = pixels.span
        var row: [UInt8] = []
        // In small portions, which stay in the processor's cache.
        let portion = 4 << 10
        for start in stride(from: 0, to: pixels.count, by: portion) {
            let end = Swift.min(start + portion, pixels.count)
            row.removeAll(keepingCapacity: true)
            for pixel in stride(from: start, to: end, by: 4) {
                row.append(pixels[pixel])
                row.append(pixels[pixel + 1])
                row.append(pixels[pixel + 2])
            }
            self += row
        }
    }
}
