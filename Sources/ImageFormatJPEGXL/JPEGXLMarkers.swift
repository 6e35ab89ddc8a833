#if JPEGXL
import ImageCodecs

/// The markers of a JPEG, which begin the data for restoring it: the box `jbrd` (ISO/IEC 18181-2).
///
/// libjxl allocates 64 KiB for every segment of metadata that they name, and encodes the image for every scan, both of
/// which take a hostile file a few bits.
struct JPEGXLMarkers {
    /// The maximum number of segments.
    private static let maximumSegments = 1_024

    private var scans = 0
    private var segments = 0

    /// Throws an error if a file restores a JPEG of `size` with too many scans or segments.
    static func check(_ file: Span<UInt8>, _ size: PixelSize, _ limits: DecodeLimits) throws(CodecError) {
        guard file.has("JXL ", at: 4) else { return }
        var rest = file
        // libjxl finds other lengths to be errors.
        while let length = rest.bigEndian32(at: 0) {
            var (start, end) = (8, length == 0 ? rest.count : length)
            if length == 1, let high = rest.bigEndian32(at: 8), let low = rest.bigEndian32(at: 12) {
                (start, end) = (16, high == 0 ? low : rest.count)
            }
            end = min(end, rest.count)
            guard start <= end else { return }
            if rest.has("jbrd", at: 4) {
                try JPEGXLMarkers(rest.extracting(start..<end)).check(size, limits)
            }
            rest = rest.extracting(droppingFirst: end)
        }
    }

    /// Counts the markers: 6 bits each, after one bit.
    private init(_ data: Span<UInt8>) {
        var position = 1
        while let low = data.byte(at: position / 8) {
            let bits = low | (data.byte(at: position / 8 + 1) ?? 0) << 8
            let marker = 0xC0 + bits >> (position % 8) & 0x3F
            switch marker {
            case 0xD9: return
            case 0xDA: scans += 1
            // Application data, comments, and, by libjxl's convention, other bytes between markers.
            case 0xE0...0xEF, 0xFE, 0xFF: segments += 1
            default: break
            }
            position += 6
        }
    }

    private func check(_ size: PixelSize, _ limits: DecodeLimits) throws(CodecError) {
        guard scans <= limits.maximumScans else {
            throw .overLimit(.scans, value: scans, limit: limits.maximumScans)
        }
        let (work, overflow) = size.area.multipliedReportingOverflow(by: scans)
        guard !overflow, work <= limits.maximumWork else {
            throw .overLimit(.work, value: overflow ? .max : work, limit: limits.maximumWork)
        }
        guard segments <= Self.maximumSegments else {
            throw .unsupportedFeature(.jpegXL, "a JPEG with more than \(Self.maximumSegments) segments of metadata")
        }
    }
}
#endif
