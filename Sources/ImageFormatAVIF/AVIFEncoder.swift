#if AVIF
import CAVIF
public import ImageCodecs
public import ImageEncoders

/// Encodes AVIF with libavif, with 8 bits per channel.
public struct AVIFEncoder: ImageEncoder {
    /// The format of the files.
    public let format = ImageFormat.avif
    /// The quality, from 1, the smallest file, to 100, the best; other values are clamped.
    public var quality: Int
    /// A Boolean value that indicates whether encoding is lossless.
    public var isLossless: Bool
    /// The speed, from 0, the smallest files, to 10, the fastest; other values are clamped.
    public var speed: Int

    /// The format and its options.
    public var identity: String { "avif \(quality) \(isLossless) \(speed)" }

    /// The maximum number of pixels along one side of an encoded image.
    private static let maximumSide = 65_536

    /// Creates an encoder; by default, lossy with quality 60, which corresponds to 85 in JPEG, and speed 6.
    public init(quality: Int = 60, isLossless: Bool = false, speed: Int = 6) {
        self.quality = quality
        self.isLossless = isLossless
        self.speed = speed
    }

    /// Returns the memory that libavif takes for an image that hardly compresses, in bytes.
    public func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int {
        size.area * (hasAlpha ? 80 : 60) + (16 << 20)
    }

    /// Returns the encoded image with its metadata, of which the orientation is not applied.
    public func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8] {
        guard max(pixels.width, pixels.height) <= Self.maximumSide else {
            throw .encodingFailed(format, "more than \(Self.maximumSide) pixels on one side")
        }
        // The most that libavif decodes.
        guard pixels.size.area <= 1 << 28 else { throw .encodingFailed(format, "more than \(1 << 28) pixels") }
        guard let encoder = unsafe avifEncoderCreate() else { throw .encodingFailed(format, "out of memory") }
        defer { unsafe avifEncoderDestroy(encoder) }
        unsafe encoder.pointee.maxThreads = 1
        unsafe encoder.pointee.speed = Int32(min(max(speed, 0), 10))
        // As libavif 1.0 computes it from a quality.
        let quantizer = isLossless ? 0 : Int32(((100 - min(max(quality, 1), 100)) * 63 + 50) / 100)
        unsafe (encoder.pointee.minQuantizer, encoder.pointee.maxQuantizer) = (quantizer, quantizer)
        unsafe (encoder.pointee.minQuantizerAlpha, encoder.pointee.maxQuantizerAlpha) = (0, 0)

        let image = try unsafe image(of: pixels, metadata)
        defer { unsafe avifImageDestroy(image) }
        try check(unsafe avifEncoderAddImage(encoder, image, 1, AVIF_ADD_IMAGE_FLAG_SINGLE.rawValue))
        var output = unsafe avifRWData()
        defer { unsafe avifRWDataFree(&output) }
        try check(unsafe avifEncoderFinish(encoder, &output))
        return unsafe Array(UnsafeBufferPointer(start: output.data, count: output.size))
    }

    /// Returns an image with the planes of `pixels`, which the caller must destroy.
    private func image(
        of pixels: PixelBuffer, _ metadata: ImageMetadata
    ) throws(CodecError) -> UnsafeMutablePointer<avifImage> {
        // Half the chroma for the qualities at which JPEG has it.
        let layout = isLossless || quality >= 90 ? AVIF_PIXEL_FORMAT_YUV444 : AVIF_PIXEL_FORMAT_YUV420
        guard
            let image = unsafe avifImageCreate(
                UInt32(clamping: pixels.width), UInt32(clamping: pixels.height), 8, layout)
        else { throw .encodingFailed(format, "out of memory") }
        if let profile = metadata.colorProfile {
            unsafe avifImageSetProfileICC(image, profile, profile.count)
        } else {
            unsafe image.pointee.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
            unsafe image.pointee.transferCharacteristics = avifTransferCharacteristics(
                AVIF_TRANSFER_CHARACTERISTICS_SRGB)
        }
        unsafe image.pointee.matrixCoefficients = avifMatrixCoefficients(
            isLossless ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601)
        if let exif = metadata.exif {
            unsafe avifImageSetMetadataExif(image, exif, exif.count)
            // The pixels are upright already, whatever the data says.
            unsafe image.pointee.transformFlags = 0
        }
        var source = unsafe avifRGBImage()
        unsafe avifRGBImageSetDefaults(&source, image)
        unsafe source.ignoreAlpha = pixels.isOpaqueRGBA ? 1 : 0
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
        throw .encodingFailed(format, unsafe String(cString: avifResultToString(result)))
    }
}

extension EncodeOptions {
    /// AVIF, still.
    public static func avif(_ encoder: AVIFEncoder = AVIFEncoder()) -> EncodeOptions { EncodeOptions(encoder) }
}

extension PixelBuffer {
    fileprivate var isOpaqueRGBA: Bool { stride(from: 3, to: bytes.count, by: 4).allSatisfy { bytes[$0] == 255 } }
}
#endif
