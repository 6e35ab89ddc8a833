#if HEIC
import CHEIF
import ImageCodecs

/// Owns the decoded pixels of an image.
@safe
final class HEICPixels {
    private let pixels: OpaquePointer
    private let image: HEICImage

    /// Decodes `image`, upright.
    init(_ image: HEICImage) throws(CodecError) {
        let layout =
            if image.bitsPerChannel > 8 {
                image.hasAlpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE
            } else {
                image.hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB
            }
        var pixels: OpaquePointer?
        try unsafe check(heif_decode_image(image.handle, &pixels, heif_colorspace_RGB, layout, nil))
        guard let pixels = unsafe pixels else { throw .corrupt(.heic, "there are no pixels") }
        unsafe self.pixels = pixels
        self.image = image
    }

    deinit {
        unsafe heif_image_release(pixels)
    }

    /// Passes all rows.
    func pass(to rows: inout ImageRows) throws(CodecError) {
        let size = PixelSize(
            width: Int(unsafe heif_image_get_width(pixels, heif_channel_interleaved)),
            height: Int(unsafe heif_image_get_height(pixels, heif_channel_interleaved)))
        guard size == image.size else {
            throw .corrupt(.heic, "the image has \(size) instead of \(image.size) pixels")
        }
        var stride: Int32 = 0
        guard let plane = unsafe heif_image_get_plane_readonly(pixels, heif_channel_interleaved, &stride) else {
            throw .corrupt(.heic, "there are no pixels")
        }
        let bits = Int(unsafe heif_image_get_bits_per_pixel_range(pixels, heif_channel_interleaved))
        let channels = image.hasAlpha ? 4 : 3
        let sampleBytes = image.bitsPerChannel > 8 ? 2 : 1
        guard Int(stride) >= size.width * channels * sampleBytes, sampleBytes == 1 || (9...16).contains(bits) else {
            throw .corrupt(.heic, "the image has an unknown layout")
        }
        var row8 = [UInt8](repeating: 255, count: sampleBytes == 1 ? size.width * 4 : 0)
        var row16 = [UInt16](repeating: .max, count: sampleBytes == 2 ? size.width * 4 : 0)
        for y in 0..<size.height {
            let row = unsafe UnsafeRawBufferPointer(
                start: plane + y * Int(stride), count: size.width * channels * sampleBytes)
            if sampleBytes == 1 {
                unsafe copy(row, channels, to: &row8) { $0 }
                try rows.append(row8.span)
            } else {
                // The high bits again in the low ones, so that the largest value stays the largest.
                unsafe copy(row, channels, to: &row16) { (sample: UInt16) in
                    sample << UInt16(16 - bits) | sample >> UInt16(2 * bits - 16)
                }
                try rows.append(row16.span)
            }
        }
    }

    /// Copies a row of `channels` to one of red, green, blue, and straight alpha, with converted samples.
    @inline(__always)
    private func copy<Sample: FixedWidthInteger & UnsignedInteger>(
        _ source: UnsafeRawBufferPointer, _ channels: Int, to row: inout [Sample], _ converted: (Sample) -> Sample
    ) {
        let samples = unsafe source.assumingMemoryBound(to: Sample.self)
        var target = row.mutableSpan
        for x in 0..<target.count / 4 {
            for channel in 0..<channels { target[x * 4 + channel] = converted(unsafe samples[x * channels + channel]) }
        }
        guard image.hasAlpha, image.isPremultiplied else { return }
        for x in 0..<target.count / 4 {
            let alpha = Int(target[x * 4 + 3])
            for channel in 0..<3 {
                let value = alpha == 0 ? 0 : (Int(target[x * 4 + channel]) * Int(Sample.max) + alpha / 2) / alpha
                target[x * 4 + channel] = Sample(clamping: value)
            }
        }
    }
}
#endif
