#if AVIF
import CAVIF
import ImageCodecs
import ImageEncoders
import ImageTestSupport

/// An AVIF file made with libavif, and the pixels that libavif itself decodes from a file.
struct TestAVIF {
    var depth: UInt32 = 8
    var layout = AVIF_PIXEL_FORMAT_YUV444
    var isOpaque = true
    var quantizer: Int32 = 10
    /// Changes the image before it is encoded, such as its transformations.
    var change: (UnsafeMutablePointer<avifImage>) -> Void = { _ in }

    struct Failure: Error {
        let result: avifResult
    }

    static func check(_ result: avifResult) throws {
        guard result == AVIF_RESULT_OK else { throw Failure(result: result) }
    }

    /// Returns a file of these frames, which all have the same size: a still image if there is only one.
    func file(_ frames: [PixelBuffer], milliseconds: UInt64 = 100) throws -> [UInt8] {
        let encoder = try avifEncoderCreate().unwrapped()
        defer { avifEncoderDestroy(encoder) }
        encoder.pointee.speed = 10
        encoder.pointee.timescale = 1_000
        (encoder.pointee.minQuantizer, encoder.pointee.maxQuantizer) = (quantizer, quantizer)
        for (index, frame) in frames.enumerated() {
            let image = try avifImageCreate(UInt32(frame.width), UInt32(frame.height), depth, layout).unwrapped()
            defer { avifImageDestroy(image) }
            image.pointee.colorPrimaries = avifColorPrimaries(AVIF_COLOR_PRIMARIES_BT709)
            image.pointee.transferCharacteristics = avifTransferCharacteristics(AVIF_TRANSFER_CHARACTERISTICS_SRGB)
            image.pointee.matrixCoefficients = avifMatrixCoefficients(AVIF_MATRIX_COEFFICIENTS_BT601)
            var source = avifRGBImage()
            avifRGBImageSetDefaults(&source, image)
            source.depth = 8
            source.ignoreAlpha = isOpaque ? 1 : 0
            source.rowBytes = UInt32(frame.width * 4)
            let result = frame.bytes.withUnsafeBufferPointer { bytes in
                source.pixels = UnsafeMutablePointer(mutating: bytes.baseAddress)
                return avifImageRGBToYUV(image, &source)
            }
            try Self.check(result)
            change(image)
            let flags = frames.count == 1 ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE
            try Self.check(
                avifEncoderAddImage(encoder, image, milliseconds * UInt64(index + 1), flags.rawValue))
        }
        var output = avifRWData()
        defer { avifRWDataFree(&output) }
        try Self.check(avifEncoderFinish(encoder, &output))
        return Array(UnsafeBufferPointer(start: output.data, count: output.size))
    }

    /// Returns the samples of a frame of `file`, RGBA of 8 or 16 bits, converted by libavif as a whole.
    static func samples(_ file: [UInt8], frame: UInt32 = 0) throws -> [UInt16] {
        let decoder = try avifDecoderCreate().unwrapped()
        defer { avifDecoderDestroy(decoder) }
        return try file.withUnsafeBufferPointer { bytes in
            try check(avifDecoderSetIOMemory(decoder, bytes.baseAddress, bytes.count))
            try check(avifDecoderParse(decoder))
            try check(avifDecoderNthImage(decoder, frame))
            var target = avifRGBImage()
            avifRGBImageSetDefaults(&target, decoder.pointee.image)
            target.depth = target.depth > 8 ? 16 : 8
            avifRGBImageAllocatePixels(&target)
            defer { avifRGBImageFreePixels(&target) }
            try check(avifImageYUVToRGB(decoder.pointee.image, &target))
            let count = Int(target.width * target.height) * 4
            let pixels = try UnsafeMutableRawPointer(target.pixels).unwrapped()
            return target.depth == 8
                ? UnsafeBufferPointer(start: pixels.assumingMemoryBound(to: UInt8.self), count: count).map(UInt16.init)
                : Array(UnsafeBufferPointer(start: pixels.assumingMemoryBound(to: UInt16.self), count: count))
        }
    }
}
#endif
