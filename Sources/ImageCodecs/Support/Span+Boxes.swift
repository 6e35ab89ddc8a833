/// Files that consist of boxes (ISO/IEC 14496-12), such as AVIF and HEIC.
extension Span<UInt8> {
    /// Returns whether the file begins with a `ftyp` box that has one of `brands`: as the major one or, after its version,
    /// as a compatible one.
    package func hasBrand(_ brands: [StaticString]) -> Bool {
        guard count >= 12, has("ftyp", at: 4), let length = bigEndian32(at: 0) else { return false }
        for offset in stride(from: 8, to: Swift.min(length, count), by: 4) where offset != 12 {
            for brand in brands where has(brand, at: offset) { return true }
        }
        return false
    }

    /// A Boolean value that indicates whether one of the boxes that the file consists of is longer than the rest of the
    /// file, which libraries do not distinguish from damage.
    ///
    /// Other bytes after the boxes with the image are ignored, as in browsers.
    package var endsInsideABox: Bool {
        var start = 0
        var hasData = false
        while start < count {
            let isMediaData = has("mdat", at: start + 4)
            let isKnown = isMediaData || has("moov", at: start + 4) || has("meta", at: start + 4)
            guard let length = bigEndian32(at: start), start + 8 <= count else { return !hasData }
            let end: Int
            switch length {
            // To the end of the file.
            case 0: return false
            case 1:
                // The length has 64 bits.
                let (high, low) = (bigEndian32(at: start + 8), bigEndian32(at: start + 12))
                end = high == 0 ? start + Swift.max(low ?? .max >> 1, 16) : .max
            default: end = start + Swift.max(length, 8)
            }
            guard end <= count else { return isKnown || !hasData }
            hasData = hasData || isMediaData
            start = end
        }
        return false
    }
}
