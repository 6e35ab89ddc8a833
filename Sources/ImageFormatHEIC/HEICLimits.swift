#if HEIC
import ImageCodecs

/// Checks what libheif and libde265 would only find out while they decode: the sizes inside of the compressed images, which
/// can exceed those that the file declares.
struct HEICLimits {
    /// The maximum number of pixels of one coded image, with its border.
    private let maximumArea: Int
    /// The maximum number of pixels of all tiles of one image.
    private let maximumTileArea: Int

    /// Throws an error if a crop hides much of `image`: memory is granted for the visible part.
    init(of image: HEICImage) throws(CodecError) {
        let stored = image.storedSize
        guard stored.width > 0, stored.height > 0 else { throw .zeroPixels(.heic, stored) }
        guard stored.area <= Self.maximumStoredArea(of: image.size) else {
            throw .unsupportedFeature(.heic, "a crop that hides much of the image")
        }
        maximumArea = Self.maximumStoredArea(of: image.size)
        let (area, isTooLarge) = stored.area.multipliedReportingOverflow(by: 32)
        maximumTileArea = isTooLarge ? .max : area.saturatingSum(1 << 26)
    }

    /// Returns the maximum number of pixels of the stored image of which a part of `size` is visible.
    static func maximumStoredArea(of size: PixelSize) -> Int {
        // Coded sizes are multiples of up to 64; one tile can be larger than a small image.
        size.area + size.area / 4 + 64 * (size.width + size.height) + 4_096 + (1 << 18)
    }

    /// Throws an error if an image in `file` is larger than allowed, or has several pictures, which are held at the same
    /// time.
    func check(_ file: Span<UInt8>) throws(CodecError) {
        // libheif uses the last one.
        guard HEIFItems.tableCount(in: file) == 1 else { throw .corrupt(.heic, "several tables of items") }
        // libheif knows further codecs, whose images are not checked, and draws images over others.
        for (name, feature) in [("av1C", "AV1"), ("vvcC", "VVC"), ("uncC", "uncompressed images")]
            as [(StaticString, String)]
        where HEIFItems.contains(name, in: file) {
            throw .unsupportedFeature(.heic, feature)
        }
        if HEIFItems.contains("iovl", in: file) { throw .unsupportedFeature(.heic, "overlays") }
        let grids = ItemBoxes.identifiers(of: ["grid"], in: file)
        try checkParts(of: grids, in: file)
        var (tileCount, largest) = (0, 0)
        try HEIFItems.forEachConfiguration(in: file) { (unit) throws(CodecError) in
            largest = max(largest, try area(unit: unit))
        }
        try HEIFItems.forEachItem(in: file) { (identifier, item) throws(CodecError) in
            if grids.contains(identifier) { tileCount = max(tileCount, try tiles(grid: item)) }
            largest = max(largest, try area(item: item))
        }
        // Each tile is decoded, also where it is cropped.
        let (decoded, isTooLarge) = tileCount.multipliedReportingOverflow(by: largest)
        guard !isTooLarge, decoded <= maximumTileArea else {
            throw .corrupt(.heic, "tiles that are larger than the file declares")
        }
    }

    /// Throws an error if a tile of a grid is made of other images, of which there could be any number.
    private func checkParts(of grids: Set<Int>, in file: Span<UInt8>) throws(CodecError) {
        let derived = ItemBoxes.identifiers(of: ["grid", "iden"], in: file)
        var isNested = false
        HEIFItems.forEachPart(in: file) { image, part in
            isNested = isNested || grids.contains(image) && derived.contains(part)
        }
        guard !isNested else { throw .unsupportedFeature(.heic, "grids of derived images") }
    }

    /// Returns the number of pixels of the largest picture that the item declares.
    private func area(item: Span<UInt8>) throws(CodecError) -> Int {
        var (pictures, largest) = (0, 0)
        var start = 0
        // As libheif splits it: units with their length.
        while let length = item.bigEndian32(at: start), item.has(length, at: start + 4) {
            let unit = item.extracting(start + 4..<start + 4 + length)
            largest = max(largest, try area(unit: unit))
            let isSlice = length > 2 && unit[0] & 0x7F < 64
            if isSlice, unit[2] & 0x80 != 0 { pictures += 1 }
            guard pictures <= 1 else { throw .unsupportedFeature(.heic, "several pictures in an image") }
            start += 4 + length
        }
        return largest
    }

    /// Returns the number of tiles of a grid (ISO/IEC 23008-12, 6.6.2.3); throws an error if its canvas is too large.
    private func tiles(grid item: Span<UInt8>) throws(CodecError) -> Int {
        guard let flags = item.byte(at: 1), let rows = item.byte(at: 2), let columns = item.byte(at: 3) else {
            return 0
        }
        // Whatever the version, and what follows, as in libheif.
        let size =
            if flags & 1 == 0 {
                PixelSize(width: item.bigEndian16(at: 4) ?? 0, height: item.bigEndian16(at: 6) ?? 0)
            } else {
                PixelSize(width: item.bigEndian32(at: 4) ?? 0, height: item.bigEndian32(at: 8) ?? 0)
            }
        _ = try checkedArea(size)
        return (rows + 1) * (columns + 1)
    }

    /// Returns the number of pixels of a picture if the unit of HEVC is a sequence parameter set; otherwise, 0.
    private func area(unit: Span<UInt8>) throws(CodecError) -> Int {
        guard let size = HEVCParameters.size(unit) else { return 0 }
        return try checkedArea(size)
    }

    private func checkedArea(_ size: PixelSize) throws(CodecError) -> Int {
        let (area, isTooLarge) = size.width.multipliedReportingOverflow(by: size.height)
        guard !isTooLarge, area <= maximumArea else {
            throw .corrupt(.heic, "it contains an image of \(size), which is larger than the file declares")
        }
        return area
    }
}
#endif
