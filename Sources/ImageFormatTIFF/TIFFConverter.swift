#if TIFF
import CTIFF
import ImageCodecs

/// Owns libtiff's own conversion of samples to RGBA with 8 bits.
@safe
final class TIFFConverter {
    private let decoder: TIFFDecoder
    private var image = unsafe TIFFRGBAImage()

    init(_ decoder: TIFFDecoder) throws(CodecError) {
        self.decoder = decoder
        var message = [CChar](repeating: 0, count: 1_024)
        guard unsafe TIFFRGBAImageBegin(&image, decoder.tiff, 1, &message) == 1 else {
            let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw .unsupportedFeature(.tiff, text)
        }
        // The orientation is applied later.
        unsafe image.req_orientation = image.orientation
    }

    deinit {
        unsafe TIFFRGBAImageEnd(&image)
    }

    /// Converts `count` rows from row `y` on, of opaque pixels, red in the lowest bits.
    func convert(_ count: Int, fromRow y: Int, into pixels: inout [UInt32]) throws(CodecError) {
        for (column, plane) in pieces { try decoder.checkJPEG(inRow: y, column: column, plane: plane) }
        unsafe image.row_offset = Int32(clamping: y)
        let result = unsafe pixels.withUnsafeMutableBufferPointer { target in
            unsafe TIFFRGBAImageGet(
                &image, target.baseAddress, UInt32(clamping: decoder.layout.size.width), UInt32(clamping: count))
        }
        guard result == 1, !decoder.hasReport else {
            // The first one may be sound.
            let isTruncated = pieces.contains {
                decoder.failure(inRow: y, column: $0.column, plane: $0.plane) == .truncated(.tiff)
            }
            throw isTruncated ? .truncated(.tiff) : decoder.failure(inRow: y, column: 0, plane: 0)
        }
    }

    /// A column of each tile of a row of them, or of a strip, in each plane.
    private var pieces: [(column: Int, plane: Int)] {
        let layout = decoder.layout
        let columns = stride(from: 0, to: layout.size.width, by: layout.tile?.width ?? max(1, layout.size.width))
        let planes = 0..<(layout.isPlanar ? layout.samplesPerPixel : 1)
        return planes.flatMap { plane in columns.map { ($0, plane) } }
    }
}
#endif
