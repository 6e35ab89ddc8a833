#if TIFF
import CTIFF
import ImageCodecs

/// The arrangement and the meaning of the samples of a page.
struct TIFFLayout {
    /// The meaning of the color samples of a pixel.
    enum Colors {
        case gray(isInverted: Bool), palette, rgb, cmyk
        /// libtiff converts strips or tiles to RGBA, with 8 bits: YCbCr that is not JPEG, and CIE L*a*b*.
        case converted
    }

    /// The meaning of the sample after the colors.
    enum Alpha {
        case none, straight, premultiplied
    }

    /// The maximum number of strips or tiles, each of which takes time however small it is.
    private static let maximumPieces = 1 << 20
    /// The compressions that are decoded, by the value of the tag.
    private static let compressions = [
        COMPRESSION_NONE, COMPRESSION_CCITTRLE, COMPRESSION_CCITTRLEW, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4,
        COMPRESSION_LZW, COMPRESSION_JPEG, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
        COMPRESSION_PACKBITS, COMPRESSION_LZMA, COMPRESSION_ZSTD, COMPRESSION_WEBP,
    ].map(Int.init)

    let size: PixelSize
    let orientation: ImageOrientation
    /// The number of bits of a sample, as it is stored.
    let bits: Int
    /// A Boolean value that indicates whether samples are floating-point numbers.
    let isFloatingPoint: Bool
    let samplesPerPixel: Int
    /// A Boolean value that indicates whether the samples of each channel are stored together.
    let isPlanar: Bool
    let colors: Colors
    let alpha: Alpha
    /// The size of a tile; `nil` if there are strips.
    let tile: PixelSize?
    /// The number of rows of a strip or tile, at most that of the image.
    let pieceHeight: Int
    private let compression: Int
    private let isBitReversed: Bool

    /// Reads the tags of the current directory.
    init(_ tiff: OpaquePointer) throws(CodecError) {
        func tag(_ tag: Int32, missing: Int = 0) -> Int {
            Int(unsafe ctiff_get_16(tiff, UInt32(tag), UInt16(missing)))
        }
        func longTag(_ tag: Int32) -> Int { Int(unsafe ctiff_get_32(tiff, UInt32(tag), 0)) }

        size = PixelSize(width: longTag(TIFFTAG_IMAGEWIDTH), height: longTag(TIFFTAG_IMAGELENGTH))
        orientation = ImageOrientation(rawValue: tag(TIFFTAG_ORIENTATION)) ?? .up
        bits = tag(TIFFTAG_BITSPERSAMPLE)
        samplesPerPixel = tag(TIFFTAG_SAMPLESPERPIXEL)
        isPlanar = tag(TIFFTAG_PLANARCONFIG) == Int(PLANARCONFIG_SEPARATE) && samplesPerPixel > 1
        compression = tag(TIFFTAG_COMPRESSION)
        isBitReversed = tag(TIFFTAG_FILLORDER) != Int(FILLORDER_MSB2LSB)
        let photometric = tag(TIFFTAG_PHOTOMETRIC, missing: samplesPerPixel >= 3 ? 2 : 1)
        guard Self.compressions.contains(compression), TIFFIsCODECConfigured(UInt16(compression)) != 0 else {
            throw .unsupportedFeature(.tiff, "compression \(compression)")
        }
        let sampleFormat = tag(TIFFTAG_SAMPLEFORMAT)
        isFloatingPoint = sampleFormat == Int(SAMPLEFORMAT_IEEEFP)
        let isWhole = sampleFormat == Int(SAMPLEFORMAT_UINT) || sampleFormat == Int(SAMPLEFORMAT_VOID)
        guard isFloatingPoint ? [16, 32, 64].contains(bits) : isWhole && (1...16).contains(bits) else {
            throw .unsupportedFeature(.tiff, "samples of \(bits) bits in format \(sampleFormat)")
        }
        guard longTag(TIFFTAG_IMAGEDEPTH) <= 1 else { throw .unsupportedFeature(.tiff, "a volume") }

        colors = try Self.colors(
            photometric, bits: bits, isJPEG: compression == Int(COMPRESSION_JPEG) && !isPlanar,
            isCMYK: tag(TIFFTAG_INKSET) == Int(INKSET_CMYK))
        let colorCount = Self.colorCount(colors)
        guard samplesPerPixel >= colorCount else {
            throw .corrupt(.tiff, "\(samplesPerPixel) samples per pixel for photometric interpretation \(photometric)")
        }
        alpha = Self.alpha(
            colors, after: colorCount, of: samplesPerPixel,
            kind: Int(unsafe ctiff_get_extra_sample(tiff, UInt16(EXTRASAMPLE_UNSPECIFIED))))

        if unsafe TIFFIsTiled(tiff) != 0 {
            let tile = PixelSize(width: longTag(TIFFTAG_TILEWIDTH), height: longTag(TIFFTAG_TILELENGTH))
            guard tile.width > 0, tile.height > 0 else { throw .corrupt(.tiff, "tiles of \(tile)") }
            self.tile = tile
            pieceHeight = tile.height
        } else {
            tile = nil
            pieceHeight = max(1, min(longTag(TIFFTAG_ROWSPERSTRIP), size.height))
        }
    }

    private static func colors(
        _ photometric: Int, bits: Int, isJPEG: Bool, isCMYK: Bool
    ) throws(CodecError) -> Colors {
        switch Int32(photometric) {
        case PHOTOMETRIC_MINISBLACK: return .gray(isInverted: false)
        case PHOTOMETRIC_MINISWHITE: return .gray(isInverted: true)
        case PHOTOMETRIC_PALETTE where bits <= 8: return .palette
        case PHOTOMETRIC_RGB: return .rgb
        case PHOTOMETRIC_SEPARATED where isCMYK: return .cmyk
        // libjpeg converts it.
        case PHOTOMETRIC_YCBCR where isJPEG && bits == 8: return .rgb
        case PHOTOMETRIC_YCBCR, PHOTOMETRIC_CIELAB: return .converted
        default: throw .unsupportedFeature(.tiff, "photometric interpretation \(photometric) with \(bits) bits")
        }
    }

    private static func colorCount(_ colors: Colors) -> Int {
        switch colors {
        case .gray, .palette, .converted: 1
        case .rgb: 3
        case .cmyk: 4
        }
    }

    /// Returns the meaning of the first sample after the colors.
    ///
    /// Unspecified ones are what libtiff takes them for.
    private static func alpha(_ colors: Colors, after colorCount: Int, of samplesPerPixel: Int, kind: Int) -> Alpha {
        guard samplesPerPixel > colorCount else { return .none }
        switch (colors, Int32(kind)) {
        case (.cmyk, _), (.palette, _), (.converted, _): return .none
        case (_, EXTRASAMPLE_ASSOCALPHA): return .premultiplied
        case (_, EXTRASAMPLE_UNASSALPHA): return .straight
        case (.rgb, EXTRASAMPLE_UNSPECIFIED): return .premultiplied
        default: return .none
        }
    }

    /// The number of bits of a sample once it has been read: floating-point numbers become integers.
    var readBits: Int { isFloatingPoint ? 16 : bits }
    private var bytesPerSample: Int { (bits + 7) / 8 }

    var isJPEG: Bool { compression == Int(COMPRESSION_JPEG) }
    var colorCount: Int { Self.colorCount(colors) }
    var isConverted: Bool { if case .converted = colors { true } else { false } }
    var isCMYK: Bool { if case .cmyk = colors { true } else { false } }

    /// The number of channels that are read on their own; 1 if the samples of a pixel are together.
    var planeCount: Int { isPlanar ? colorCount + (alpha == .none ? 0 : 1) : 1 }
    /// The number of samples of a pixel that are read together.
    var samplesPerUnit: Int { isPlanar ? 1 : samplesPerPixel }

    /// Throws an error if decoding would take too long or too much memory, however large the image may be.
    func check(fileBytes: Int) throws(CodecError) {
        guard pieceCount <= Self.maximumPieces else {
            throw .unsupportedFeature(.tiff, "more than \(Self.maximumPieces) strips or tiles")
        }
        // Each of them would be copied, and its bits reversed.
        guard !isBitReversed || saturatingProduct(pieceCount, min(fileBytes, 1 << 20)) <= 1 << 34 else {
            throw .unsupportedFeature(.tiff, "so many strips or tiles with reversed bits")
        }
        // Strips can share their data, and samples that are not used are decoded as well.
        guard decodedBytes <= saturatingProduct(size.area, 64) + (256 << 20) else {
            throw .unsupportedFeature(.tiff, "strips or tiles that decode to \(decodedBytes) bytes")
        }
        let bytes = workingBytes(fileBytes: fileBytes)
        guard bytes <= 1 << 30 else {
            throw .unsupportedFeature(.tiff, "strips or tiles that need \(bytes) bytes of memory")
        }
    }

    /// The number of bytes to which the strips or tiles of an image decode, at most 2^58.
    private var decodedBytes: Int {
        let piece = saturatingProduct(tile?.width ?? size.width, pieceHeight, bytesPerSample)
        return saturatingProduct(piece, piecesOfPlane, isConverted || !isPlanar ? samplesPerPixel : planeCount)
    }

    private var pieceCount: Int { saturatingProduct(piecesOfPlane, isPlanar ? samplesPerPixel : 1) }

    private var piecesOfPlane: Int {
        let across = tile.map { (size.width + $0.width - 1) / $0.width } ?? 1
        let down = (size.height + pieceHeight - 1) / pieceHeight
        return saturatingProduct(across, down)
    }

    /// Returns the memory that decoding a file of `fileBytes` takes, in bytes, at most 2^60.
    func workingBytes(fileBytes: Int) -> Int {
        let pieceWidth = tile?.width ?? size.width
        let pieceArea = saturatingProduct(pieceWidth, pieceHeight)
        let pieceBytes = saturatingProduct(pieceArea, samplesPerUnit, bytesPerSample)
        // Planes in strips are decoded at the same time.
        let decoders = tile == nil && !isConverted ? planeCount : 1
        // libtiff holds two tables, which grow by doubling.
        var parts = [saturatingProduct(min(pieceCount, Self.maximumPieces), 32, decoders), 4 << 20]
        if isConverted {
            let pieces = saturatingProduct(pieceBytes, isPlanar ? samplesPerPixel : 1)
            parts += [pieces, saturatingProduct(size.width, pieceHeight, 4)]
        } else {
            // The rows as stored, as samples, and as pixels.
            let rowCount = tile == nil ? 1 : pieceHeight
            parts.append(saturatingProduct(pieceWidth, samplesPerPixel, bytesPerSample + 2, rowCount))
            parts.append(saturatingProduct(size.width, 8, rowCount))
        }
        switch Int32(compression) {
        // Those for which libjpeg needs more are refused before they are read.
        case COMPRESSION_JPEG:
            parts += [
                saturatingProduct(pieceWidth, 256, decoders),
                (TIFFJPEG.maximumCoefficientBytes + (2 << 20)) * decoders,
            ]
        case COMPRESSION_WEBP: parts += [saturatingProduct(pieceArea, 12, decoders), fileBytes * decoders]
        // The window is not larger than the data.
        case COMPRESSION_ZSTD, COMPRESSION_LZMA:
            parts += [saturatingProduct(pieceBytes, decoders), (2 << 20) * decoders]
        default: break
        }
        if isBitReversed { parts.append(fileBytes * decoders) }
        return min(parts.reduce(0, +), 1 << 60)
    }
}

/// Returns a product, at most 2^58.
private func saturatingProduct(_ factors: Int...) -> Int {
    factors.reduce(1) { product, factor in
        let (next, overflow) = product.multipliedReportingOverflow(by: max(factor, 0))
        return overflow ? 1 << 58 : min(next, 1 << 58)
    }
}
#endif
