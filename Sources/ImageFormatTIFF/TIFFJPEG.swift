#if TIFF
import ImageCodecs

/// The markers of a JPEG in a strip or tile.
enum TIFFJPEG {
    /// The maximum memory for the coefficients of a JPEG with several scans, in bytes.
    static let maximumCoefficientBytes = 10 << 20

    /// Throws an error if a JPEG is larger than `size`, that of its strip or tile, or if libjpeg would have to hold too
    /// many coefficients, which it does if there are several scans.
    static func check(_ data: Span<UInt8>, within size: PixelSize) throws(CodecError) {
        var place = 2
        var (channels, coefficientBytes, isProgressive) = (0, 0, false)
        while let marker = nextMarker(of: data, at: &place) {
            switch marker {
            case 0x01, 0xD0...0xD8: continue
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let height = data.bigEndian16(at: place + 3), let width = data.bigEndian16(at: place + 5),
                    let count = data.byte(at: place + 7)
                else { return }
                guard width <= padded(size.width), height <= padded(size.height) else {
                    let jpeg = PixelSize(width: width, height: height)
                    throw .corrupt(.tiff, "a JPEG of \(jpeg) pixels in a strip or tile of \(size)")
                }
                coefficientBytes = 2 * count * padded(width) * padded(height)
                (channels, isProgressive) = (count, marker & 3 == 2)
            case 0xDA:
                let isOneScan = !isProgressive && data.byte(at: place + 2) == channels
                guard isOneScan || coefficientBytes <= maximumCoefficientBytes else {
                    throw .unsupportedFeature(.tiff, "a JPEG with several scans")
                }
                // libjpeg has chosen by now.
                return
            case 0xD9: return
            default: break
            }
            guard let length = data.bigEndian16(at: place) else { return }
            place += max(length, 2)
        }
    }

    /// Returns the next marker as libjpeg finds it, and moves `place` behind it; `nil` if there is none.
    private static func nextMarker(of data: Span<UInt8>, at place: inout Int) -> Int? {
        var isPrefixed = false
        while let byte = data.byte(at: place) {
            place += 1
            if isPrefixed, byte != 0, byte != 0xFF { return byte }
            isPrefixed = byte == 0xFF
        }
        return nil
    }

    /// Returns a length that contains whole blocks, of up to 32 pixels.
    private static func padded(_ length: Int) -> Int { (length + 31) / 32 * 32 }
}
#endif
