#if AVIF
import CAVIF
import ImageCodecs

/// Converts the planes of an image to rows of RGBA, a strip at a time.
enum AVIFRows {
    /// The number of rows of a strip.
    static let stripHeight = 32
    /// The rows above and below a strip that the interpolation of its chroma depends on.
    private static let margin = 2

    /// Passes the rows of `crop`, a part of `image`, to `rows`: of 8 bits, or of 16 if the image has more than 8.
    static func pass(
        _ crop: PixelRectangle, of image: UnsafeMutablePointer<avifImage>, decoder: AVIFDecoder,
        to rows: inout ImageRows
    ) throws(CodecError) {
        guard let view = unsafe avifImageCreateEmpty() else { throw .outOfMemory(.avif) }
        defer { unsafe avifImageDestroy(view) }
        let width = Int(unsafe image.pointee.width)
        let height = Int(unsafe image.pointee.height)
        let isDeep = unsafe image.pointee.depth > 8
        var samples8 = [UInt8](repeating: 0, count: isDeep ? 0 : width * 4 * (stripHeight + 2 * margin))
        var samples16 = [UInt16](repeating: 0, count: isDeep ? width * 4 * (stripHeight + 2 * margin) : 0)
        let columns = crop.left * 4..<(crop.left + crop.size.width) * 4
        var y = crop.top
        let end = crop.top + crop.size.height
        while y < end {
            // Strips begin at even rows, where chroma does.
            let next = min(y / stripHeight * stripHeight + stripHeight, end)
            let top = max(0, y / 2 * 2 - margin)
            let bottom = min(height, next + margin + next % 2)
            var rectangle = avifCropRect(
                x: 0, y: UInt32(clamping: top), width: UInt32(clamping: width), height: UInt32(clamping: bottom - top))
            try decoder.check(unsafe avifImageSetViewRect(view, image, &rectangle))
            if isDeep {
                try unsafe samples16.withStrip { (strip) throws(CodecError) in
                    try unsafe convert(view, depth: 16, rowBytes: width * 8, into: strip, decoder)
                }
            } else {
                try unsafe samples8.withStrip { (strip) throws(CodecError) in
                    try unsafe convert(view, depth: 8, rowBytes: width * 4, into: strip, decoder)
                }
            }
            for row in y - top..<next - top {
                let range = row * width * 4 + columns.lowerBound..<row * width * 4 + columns.upperBound
                if isDeep {
                    try rows.append(samples16.span.extracting(range))
                } else {
                    try rows.append(samples8.span.extracting(range))
                }
            }
            y = next
        }
    }

    private static func convert(
        _ view: UnsafeMutablePointer<avifImage>, depth: UInt32, rowBytes: Int, into strip: UnsafeMutableRawPointer,
        _ decoder: AVIFDecoder
    ) throws(CodecError) {
        var target = unsafe avifRGBImage()
        unsafe avifRGBImageSetDefaults(&target, view)
        unsafe target.depth = depth
        unsafe target.format = AVIF_RGB_FORMAT_RGBA
        unsafe target.pixels = strip.assumingMemoryBound(to: UInt8.self)
        unsafe target.rowBytes = UInt32(clamping: rowBytes)
        try decoder.check(unsafe avifImageYUVToRGB(view, &target))
    }
}

extension Array {
    /// Calls `body` with the address of the elements.
    fileprivate mutating func withStrip(
        _ body: (UnsafeMutableRawPointer) throws(CodecError) -> Void
    ) throws(CodecError) {
        try unsafe withUnsafeMutableBufferPointer { (buffer) throws(CodecError) in
            guard let start = UnsafeMutableRawBufferPointer(buffer).baseAddress else { return }
            try unsafe body(start)
        }
    }
}
#endif
