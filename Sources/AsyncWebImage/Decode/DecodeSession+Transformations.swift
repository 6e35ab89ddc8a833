import ImageCodecs
import ImageProcessing

// The transformations of decoded images, within the memory that is granted for the decode.
extension DecodeSession {
    private var limits: DecodeLimits { decoder.configuration.limits }

    /// Returns the size of the transformed image, or the maximum; throws if it cannot be transformed.
    func transformedSize(_ plan: DecodePlan) throws(CodecError) -> PixelSize {
        let size = plan.outputSize
        do {
            return try transformations.outputSize(for: size, limits: limits)
        } catch {
            // An orientation after the pixels can still exchange the sides.
            let other = PixelSize(width: size.height, height: size.width)
            guard let output = try? transformations.outputSize(for: other, limits: limits) else { throw error }
            return output
        }
    }

    /// Returns the maximum memory that the transformations need in addition to the decoded image, in bytes; throws if it
    /// cannot be transformed.
    func transformationBytes(_ plan: DecodePlan) throws(CodecError) -> Int {
        guard !transformations.isEmpty else { return 0 }
        _ = try transformedSize(plan)
        let (size, format) = (plan.outputSize, options.pixelFormat)
        let sizes = [size, PixelSize(width: size.height, height: size.width)]
        // The codec keeps the decoded pixels, which are therefore copied.
        return sizes.map { transformations.workingBytes(for: $0, format, limits: limits) }.reduce(0, max)
            .saturatingSum(size.area * format.bytesPerPixel)
    }

    /// Returns the transformed image.
    func transformed(_ image: DecodedImage) throws -> DecodedImage {
        guard !transformations.isEmpty else { return image }
        return try image.applying(transformations, limits: limits)
    }

    /// Returns the animation whose frames are transformed.
    func transformed(_ animation: AnimatedImage) throws -> AnimatedImage {
        try animation.applying(transformations, limits: limits)
    }

    /// Returns the image as far as it has been received, transformed.
    ///
    /// A transformed preview has the size of the image: distances in pixels would mean something else in a smaller one.
    func preview(_ codec: StreamingDecoder) throws -> PreviewPixels? {
        guard !transformations.isEmpty else { return try codec.preview(maximumSide: policy.maximumSide) }
        guard var preview = try codec.preview() else { return nil }
        let rows = preview.pixels.height
        preview.pixels = try preview.pixels.applying(transformations, limits: limits)
        preview.completeRows = min(preview.completeRows * preview.pixels.height / rows, preview.pixels.height)
        return preview
    }
}
