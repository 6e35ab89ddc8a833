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
        unsafe image.row_offset = Int32(clamping: y)
        let result = unsafe pixels.withUnsafeMutableBufferPointer { target in
            unsafe TIFFRGBAImageGet(
                &image, target.baseAddress, UInt32(clamping: decoder.layout.size.width), UInt32(clamping: count))
        }
        guard result == 1 else { throw decoder.failure(inRow: y, column: 0, plane: 0) }
    }
}
#endif
