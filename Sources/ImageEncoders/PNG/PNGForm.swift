import ImageCodecs

/// The color type and bit depth of the pixels in a PNG.
struct PNGForm {
    /// The color types of PNG (W3C PNG, 11.2.1).
    enum ColorType: Int32 {
        case gray = 0
        case rgb = 2
        case indexed = 3
        case grayAlpha = 4
        case rgba = 6
    }

    var colorType: ColorType
    var bitDepth = 8
    /// The palette of an indexed image.
    var palette: PNGPalette?

    /// Creates a form with the given number of bits per channel.
    init(_ colorType: ColorType, bitDepth: Int = 8) {
        self.colorType = colorType
        self.bitDepth = bitDepth
    }

    /// Creates the form of `pixels` with the fewest uncompressed bits among those that `profile` allows.
    init(fewestBitsFor pixels: PixelBuffer, profile: ImageMetadata.ProfileColors?) {
        let isOpaque = pixels.isOpaque
        var forms = [PNGForm(isOpaque ? .rgb : .rgba)]
        let isGray = profile != .rgb && pixels.isGray
        if isGray {
            var gray = PNGForm(isOpaque ? .gray : .grayAlpha)
            if isOpaque { gray.bitDepth = pixels.grayBitDepth }
            // A grayscale profile is valid for no other form.
            forms = profile == .gray ? [gray] : [gray] + forms
        }
        if !(isGray && profile == .gray), let palette = PNGPalette(pixels) {
            var indexed = PNGForm(.indexed)
            indexed.bitDepth = palette.bitDepth
            indexed.palette = palette
            forms.append(indexed)
        }
        self = forms[0]
        for form in forms where form.byteCount(pixels.size) < byteCount(pixels.size) { self = form }
    }

    var isGray: Bool { colorType == .gray || colorType == .grayAlpha }

    /// Returns the uncompressed size of an image in bytes.
    private func byteCount(_ size: PixelSize) -> Int {
        let channels =
            switch colorType {
            case .gray, .indexed: 1
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        return size.height * (1 + (size.width * channels * bitDepth + 7) / 8) + (palette?.chunkBytes ?? 0)
    }
}

extension PixelBuffer {
    /// The minimum number of bits for all gray values of a grayscale image: 1, 2, 4, or 8.
    fileprivate var grayBitDepth: Int {
        let bytes = bytes.span
        var depth = 1
        for pixel in stride(from: 0, to: bytes.count, by: 4) {
            // With fewer bits, gray values are multiples of 255, 85, or 17.
            while depth < 8, bytes[pixel] % UInt8(255 / (1 << depth - 1)) != 0 { depth *= 2 }
            if depth == 8 { break }
        }
        return depth
    }
}
