/// The layout of a device-independent bitmap, according to the header that precedes its palette and pixels: that of a BMP
/// after its first 14 bytes, or of an image in an ICO.
///
/// See the structures BITMAPCOREHEADER, BITMAPINFOHEADER, BITMAPV4HEADER, and BITMAPV5HEADER of Windows, and
/// BITMAPINFOHEADER2 of OS/2.
struct Bitmap: Sendable {
    /// The way the pixels are stored.
    enum Kind: Sendable {
        /// Indices of the palette, from the highest bit of each byte.
        case indexed
        /// Channels in 16 to 32 bits, given by their masks.
        case channels(BitmapChannels)
        /// Runs of indices with the given number of bits, 4 or 8.
        case runs(bits: Int)
    }

    /// The maximum length of a header, with the masks that follow a short one, in bytes.
    static let maximumHeaderLength = 124

    /// The size of the image in pixels.
    var size: PixelSize
    /// A Boolean value that indicates whether the first row is the top one.
    let isTopDown: Bool
    let bitsPerPixel: Int
    let kind: Kind
    /// The number of palette entries that the file declares, at most 256; 0 if there is no palette.
    let paletteCount: Int
    /// The number of bytes of each palette entry.
    let paletteEntryBytes: Int
    /// The offset of the palette from the beginning of the header, in bytes.
    let paletteOffset: Int
    /// A Boolean value that indicates whether there is an embedded or linked profile.
    let hasOtherColors: Bool

    /// The number of bytes of an uncompressed row: a multiple of 4.
    var rowBytes: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }
    /// The number of bytes of a row without padding.
    var usedRowBytes: Int { (size.width * bitsPerPixel + 7) / 8 }
    /// The offset of the first byte after the palette from the beginning of the header, in bytes.
    var paletteEnd: Int { paletteOffset + paletteCount * paletteEntryBytes }

    /// A Boolean value that indicates whether pixels can be transparent: by an alpha mask, or if runs skip them.
    var hasAlpha: Bool {
        switch kind {
        case .indexed: false
        case .channels(let channels): channels.hasAlpha
        case .runs: true
        }
    }

    /// The number of bits of the widest channel, or of an index.
    var bitsPerChannel: Int {
        switch kind {
        case .indexed, .runs: bitsPerPixel
        case .channels(let channels): channels.bitsPerChannel
        }
    }

    /// Parses the header at `start`; returns `nil` if more bytes are needed.
    ///
    /// With `isIcon`, the height includes a mask of the same size, and the fourth byte of 32-bit pixels is alpha.
    init?(_ bytes: Span<UInt8>, at start: Int, of format: ImageFormat, isIcon: Bool = false) throws(CodecError) {
        guard let length = bytes.littleEndian32(at: start) else { return nil }
        guard length == 12 || (16...Self.maximumHeaderLength).contains(length) else {
            throw .corrupt(format, "a bitmap header of \(length) bytes")
        }
        guard bytes.has(length, at: start) else { return nil }
        /// Returns a field of the header, or 0 if the header is too short for it.
        func field(_ offset: Int) -> Int {
            offset + 4 <= length ? bytes.littleEndian32(at: start + offset) ?? 0 : 0
        }
        let isCore = length == 12
        let width = isCore ? field(4) & 0xFFFF : Int(Int32(truncatingIfNeeded: field(4)))
        var height = isCore ? field(4) >> 16 : Int(Int32(truncatingIfNeeded: field(8)))
        bitsPerPixel = (isCore ? field(8) : field(12)) >> 16
        isTopDown = height < 0
        height = abs(height)
        if isIcon { height /= 2 }
        guard width >= 0 else { throw .corrupt(format, "a width of \(width) pixels") }
        size = PixelSize(width: width, height: height)

        // Of the OS/2 header, only the values that have the same meaning in Windows are used.
        let isOS2 = length == 64 || length < 40
        let compression = isCore ? 0 : field(16)
        guard compression <= (isOS2 ? 2 : 6), compression != 4, compression != 5 else {
            throw .unsupportedFeature(format, "compression \(compression)")
        }
        let externalMaskBytes = length >= 52 ? 0 : compression == 3 ? 12 : compression == 6 ? 16 : 0
        switch (compression, bitsPerPixel) {
        case (0, 1), (0, 2), (0, 4), (0, 8): kind = .indexed
        case (0, 16): kind = .channels(BitmapChannels(red: 0x7C00, green: 0x3E0, blue: 0x1F, alpha: 0))
        case (0, 24), (0, 32):
            // Without a mask, the fourth byte has no meaning, as in browsers.
            let alpha: UInt32 = isIcon && bitsPerPixel == 32 ? 0xFF00_0000 : 0
            kind = .channels(BitmapChannels(red: 0xFF0000, green: 0xFF00, blue: 0xFF, alpha: alpha))
        case (1, 8), (2, 4): kind = .runs(bits: bitsPerPixel)
        case (3, 16), (3, 32), (6, 16), (6, 32):
            guard bytes.has(externalMaskBytes, at: start + length) else { return nil }
            /// Returns the mask at this place, in the header or after it.
            func mask(_ index: Int) -> UInt32 {
                UInt32(truncatingIfNeeded: bytes.littleEndian32(at: start + 40 + index * 4) ?? 0)
            }
            let hasAlphaMask = length >= 56 || externalMaskBytes == 16
            let channels = BitmapChannels(
                red: mask(0), green: mask(1), blue: mask(2), alpha: hasAlphaMask ? mask(3) : 0)
            guard channels.areContiguous else { throw .corrupt(format, "masks with gaps") }
            kind = .channels(channels)
        default: throw .corrupt(format, "\(bitsPerPixel) bits per pixel with compression \(compression)")
        }
        guard !isTopDown || compression == 0 || compression >= 3 else {
            throw .corrupt(format, "compressed rows from the top")
        }
        paletteEntryBytes = isCore ? 3 : 4
        paletteOffset = length + externalMaskBytes
        let declared = isCore ? 0 : field(32)
        let maximum = bitsPerPixel <= 8 ? 1 << bitsPerPixel : 0
        // Bitmaps with channels can declare colors for displays with few, which precede the pixels.
        paletteCount = declared == 0 || declared > maximum ? maximum : declared
        // sRGB and the color space of Windows are the same; browsers ignore calibrated primaries.
        hasOtherColors = length >= 108 && [0x4D42_4544, 0x4C49_4E4B].contains(field(56))
    }
}
