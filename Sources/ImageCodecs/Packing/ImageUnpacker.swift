/// Restores a packed image from its bytes, which arrive piece by piece.
///
/// Pixels are allocated only if their number matches the number of bytes.
package struct ImageUnpacker {
    private let count: Int
    private var received = 0
    /// The bytes before the rows.
    private var beginning: [UInt8] = []
    private var properties: PackedProperties?
    private var pixels: [UInt8] = []
    /// The position of the next byte in ``pixels``, if they have been allocated in full.
    private var position = 0
    private var isDamaged = false

    /// Creates an unpacker of a packed image of `count` bytes.
    package init(count: Int) { self.count = count }

    /// The maximum memory for unpacking an image of `count` bytes.
    package static func memory(forCount count: Int) -> Int { min(count, 1 << 48) / 3 * 4 + (256 << 10) }

    /// Appends the next bytes.
    package mutating func append(_ piece: [UInt8]) {
        received += piece.count
        guard !isDamaged, received <= count else { return isDamaged = true }
        guard properties == nil else { return unpack(piece.span) }
        beginning += piece
        guard let length = beginning.span.littleEndian32(at: PackedImage.magic.count) else { return }
        guard beginning.starts(with: PackedImage.magic), length <= PackedImage.maximumPropertyBytes + 1 else {
            return isDamaged = true
        }
        let end = PackedImage.prefixLength + length
        guard beginning.count >= end else { return }
        let all = beginning
        beginning = []
        begin(PackedProperties(all.span.extracting(PackedImage.prefixLength..<end)), packedByteCount: count - end)
        if !isDamaged { unpack(all.span.extracting(end...)) }
    }

    private mutating func begin(_ properties: PackedProperties?, packedByteCount: Int) {
        guard let properties, properties.packedByteCount == packedByteCount else { return isDamaged = true }
        self.properties = properties
        if properties.omitsAlpha {
            pixels = [UInt8](repeating: 255, count: properties.size.area * 4)
        } else {
            pixels.reserveCapacity(packedByteCount)
        }
    }

    /// Returns the image; `nil` if the bytes were not those of a packed image.
    package consuming func finish() -> DecodedImage? {
        guard !isDamaged, received == count, let properties else { return nil }
        return properties.image(pixels)
    }

    private mutating func unpack(_ bytes: Span<UInt8>) {
        if properties?.omitsAlpha == true { addAlpha(bytes) } else { pixels.append(bytes) }
    }

    /// Copies three bytes of each pixel.
    private mutating func addAlpha(_ bytes: Span<UInt8>) {
        var (target, index) = (position, 0)
        var pixels = pixels.mutableSpan
        func isAtPixel(_ target: Int) -> Bool { target & 3 == 0 }
        // The rest of a pixel that began in the last piece.
        while index < bytes.count, !isAtPixel(target) {
            pixels[target] = bytes[index]
            (target, index) = (target + 1, index + 1)
            if target & 3 == 3 { target += 1 }
        }
        while index + 3 <= bytes.count {
            pixels[target] = bytes[index]
            pixels[target + 1] = bytes[index + 1]
            pixels[target + 2] = bytes[index + 2]
            (target, index) = (target + 4, index + 3)
        }
        while index < bytes.count {
            pixels[target] = bytes[index]
            (target, index) = (target + 1, index + 1)
        }
        position = target
    }
}
