#if AVIF
import CAVIF
import ImageCodecs

/// Owns an encoder of libavif: images in, a file out.
@safe
final class AVIFEncoderHandle {
    private let encoder: UnsafeMutablePointer<avifEncoder>
    /// A Boolean value that indicates whether libavif has released the encoder.
    private var isDestroyed = false
    private let options: AVIFEncoder
    private let isAnimated: Bool

    init(_ options: AVIFEncoder, isAnimated: Bool) throws(CodecError) {
        guard let encoder = unsafe avifEncoderCreate() else { throw .encodingFailed(.avif, "out of memory") }
        unsafe self.encoder = encoder
        self.options = options
        self.isAnimated = isAnimated
        unsafe encoder.pointee.maxThreads = 1
        unsafe encoder.pointee.timescale = 1_000
        // Faster, libaom 3.6 reads outside of its memory when it predicts the frames of an alpha plane.
        unsafe encoder.pointee.speed = Int32(min(max(options.speed, 0), isAnimated ? 6 : 10))
        // As libavif 1.0 computes it from a quality.
        let quantizer =
            options.isLossless ? 0 : Int32(((100 - min(max(options.quality, 1), 100)) * 63 + 50) / 100)
        unsafe (encoder.pointee.minQuantizer, encoder.pointee.maxQuantizer) = (quantizer, quantizer)
        unsafe (encoder.pointee.minQuantizerAlpha, encoder.pointee.maxQuantizerAlpha) = (0, 0)
    }

    deinit {
        destroy()
    }

    private func destroy() {
        guard !isDestroyed else { return }
        isDestroyed = true
        unsafe avifEncoderDestroy(encoder)
    }

    /// Adds the image, or the next frame, which is shown for `milliseconds`, at least 1.
    func add(_ pixels: PixelBuffer, _ metadata: ImageMetadata, milliseconds: Int) throws(CodecError) {
        guard !isDestroyed else { throw .encodingFailed(.avif, "it is finished") }
        let image = try unsafe image(of: pixels, metadata)
        defer { unsafe avifImageDestroy(image) }
        let flags = isAnimated ? AVIF_ADD_IMAGE_FLAG_NONE : AVIF_ADD_IMAGE_FLAG_SINGLE
        try check(unsafe avifEncoderAddImage(encoder, image, UInt64(max(milliseconds, 1)), flags.rawValue))
    }

    /// Returns the file; call this method last.
    func finish() throws(CodecError) -> [UInt8] {
        guard !isDestroyed else { throw .encodingFailed(.avif, "it is finished") }
        var output = unsafe avifRWData()
        defer { unsafe avifRWDataFree(&output) }
        let result = unsafe avifEncoderFinish(encoder, &output)
        // The frames are in the output as well, of which there will be a copy.
        destroy()
        try check(result)
        return unsafe Array(UnsafeBufferPointer(start: output.data, count: output.size))
    }

    /// Returns an image with the planes of `pixels`, which the caller must destroy.
    private func image(
        of pixels: PixelBuffer, _ metadata: ImageMetadata
    ) throws(CodecError) -> UnsafeMutablePointer<avifImage> {
        // Half the chroma for the qualities at which JPEG has it.
        let layout =
            options.isLossless || options.quality >= 90 ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420
        guard
            let image = unsafe avifImageCreate(
                UInt32(clamping: pixels.width), UInt32(clamping: pixels.height), 8, layout)
        else { throw .encodingFailed(.avif, "out of memory") }
        // A grayscale profile is invalid for these pixels.
        if let profile = metadata.colorProfile, profile.span.has("RGB ", at: 16) {
            unsafe avifImageSetProfileICC(image, profile, profile.count)
        } else {
            unsafe image.pointee.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
            unsafe image.pointee.transferCharacteristics = avifTransferCharacteristics(
                AVIF_TRANSFER_CHARACTERISTICS_SRGB)
        }
        unsafe image.pointee.matrixCoefficients = avifMatrixCoefficients(
            options.isLossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601)
        if let exif = metadata.exif {
            unsafe avifImageSetMetadataExif(image, exif, exif.count)
            // The pixels are upright already, whatever the data says.
            unsafe image.pointee.transformFlags = 0
        }
        var source = unsafe avifRGBImage()
        unsafe avifRGBImageSetDefaults(&source, image)
        // The first frame decides whether all frames have alpha.
        unsafe source.ignoreAlpha = !isAnimated && pixels.isOpaque ? 1 : 0
        unsafe source.rowBytes = UInt32(clamping: pixels.width * 4)
        let result = unsafe pixels.bytes.withUnsafeBufferPointer { bytes in
            unsafe source.pixels = UnsafeMutablePointer(mutating: bytes.baseAddress)
            return unsafe avifImageRGBToYUV(image, &source)
        }
        do throws(CodecError) {
            try check(result)
        } catch {
            unsafe avifImageDestroy(image)
            throw error
        }
        return unsafe image
    }

    private func check(_ result: avifResult) throws(CodecError) {
        guard result != AVIF_RESULT_OK else { return }
        throw .encodingFailed(.avif, unsafe String(cString: avifResultToString(result)))
    }
}
#endif
