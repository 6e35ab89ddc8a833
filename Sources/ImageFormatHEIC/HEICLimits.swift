#if HEIC
import ImageCodecs

/// Checks what libheif and libde265 would only find out while they decode: the sizes inside of the compressed images, which
/// can exceed those that the file declares.
struct HEICLimits {
    /// The maximum number of pixels of one coded image, with its border.
    private let maximumArea: Int

    /// Throws an error if a crop hides much of `image`: memory is granted for the visible part.
    init(of image: HEICImage) throws(CodecError) {
        let stored = image.storedSize
        guard stored.width > 0, stored.height > 0 else { throw .zeroPixels(.heic, stored) }
        guard stored.area <= Self.maximumStoredArea(of: image.size) else {
            throw .unsupportedFeature(.heic, "a crop that hides much of the image")
        }
        // Coded sizes are multiples of up to 64; one tile can be larger than a small image.
        maximumArea = (stored.width + 64) * (stored.height + 64) + (1 << 18)
    }

    /// Returns the maximum number of pixels of the stored image of which a part of `size` is visible.
    static func maximumStoredArea(of size: PixelSize) -> Int { size.area + size.area / 4 + (1 << 18) }

    /// Throws an error if an image in `file` is larger than allowed, or has several pictures, which are held at the same
    /// time.
    func check(_ file: Span<UInt8>) throws(CodecError) {
        // libheif knows further codecs, whose images are not checked, and draws images over others.
        for (name, feature) in [("av1C", "AV1"), ("vvcC", "VVC"), ("uncC", "uncompressed images")]
            as [(StaticString, String)]
        where HEIFItems.contains(name, in: file) {
            throw .unsupportedFeature(.heic, feature)
        }
        if HEIFItems.contains("iovl", in: file) { throw .unsupportedFeature(.heic, "overlays") }
        try HEIFItems.forEachConfiguration(in: file) { (unit) throws(CodecError) in try check(unit: unit) }
        try HEIFItems.forEachItem(in: file) { (item) throws(CodecError) in try check(item: item) }
    }

    private func check(item: Span<UInt8>) throws(CodecError) {
        try check(grid: item)
        var pictures = 0
        var start = 0
        // As libheif splits it: units with their length.
        while let length = item.bigEndian32(at: start), item.has(length, at: start + 4) {
            let unit = item.extracting(start + 4..<start + 4 + length)
            try check(unit: unit)
            let isSlice = length > 2 && unit[0] & 0x7F < 64
            if isSlice, unit[2] & 0x80 != 0 { pictures += 1 }
            guard pictures <= 1 else { throw .unsupportedFeature(.heic, "several pictures in an image") }
            start += 4 + length
        }
    }

    /// Throws an error if the item has the form of a grid (ISO/IEC 23008-12, 6.6.2.3), and its canvas is too large.
    private func check(grid item: Span<UInt8>) throws(CodecError) {
        let size: PixelSize
        switch (item.count, item.byte(at: 0), item.byte(at: 1)) {
        case (8, 0, 0):
            size = PixelSize(width: item.bigEndian16(at: 4) ?? 0, height: item.bigEndian16(at: 6) ?? 0)
        case (12, 0, 1):
            size = PixelSize(width: item.bigEndian32(at: 4) ?? 0, height: item.bigEndian32(at: 8) ?? 0)
        default: return
        }
        try check(size)
    }

    /// Throws an error if the unit of HEVC is a sequence parameter set of images that are too large.
    private func check(unit: Span<UInt8>) throws(CodecError) {
        guard let size = HEVCParameters.size(unit) else { return }
        try check(size)
    }

    private func check(_ size: PixelSize) throws(CodecError) {
        let (area, isTooLarge) = size.width.multipliedReportingOverflow(by: size.height)
        guard !isTooLarge, area <= maximumArea else {
            throw .corrupt(.heic, "it contains an image of \(size), which is larger than the file declares")
        }
    }
}
#endif
