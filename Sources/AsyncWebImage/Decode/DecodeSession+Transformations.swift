import ImageCodecs
import ImageProcessing

// The transformations of decoded images, within the memory that is granted for the decode.
extension DecodeSession {
    private var limits: DecodeLimits { decoder.configuration.limits }

    /// Returns the size of the transformed image, or the maximum; throws if it cannot be transformed.
    func transformedSize(_ plan: DecodePlan) throws(CodecError) -> PixelSize {
        let size = plan.outputSize
        guard !transformations.isEmpty else { return size }
        // An orientation after the pixels can still exchange the sides.
        let turned = PixelSize(width: size.height, height: size.width)
        let other = try? transformations.outputSize(for: turned, limits: limits)
        do {
            let output = try transformations.outputSize(for: size, limits: limits)
            return if let other, other.area > output.area { other } else { output }
        } catch {
            guard let other else { throw error }
            return other
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

    /// Returns the memory for a transformed preview, in bytes: the preview in full size, and its transformed copy.
    ///
    /// The working memory is the same as for the image, which is transformed later. Zero if there are no transformed
    /// previews.
    func previewBytes(_ plan: DecodePlan) -> Int {
        guard !transformations.isEmpty, policy.selection != .none else { return 0 }
        let (size, pixelBytes) = (plan.outputSize, options.pixelFormat.bytesPerPixel)
        let sizes = [size, PixelSize(width: size.height, height: size.width)]
        let areas = sizes.map { (try? transformations.outputSize(for: $0, limits: limits).area) ?? 0 }
        return (size.area * pixelBytes).saturatingSum(areas.reduce(0, max) * pixelBytes)
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

    /// Returns the image as far as it has been received, transformed; `nil` if there is nothing to show.
    ///
    /// A transformed preview has the size of the image: distances in pixels would mean something else in a smaller one.
    /// A preview that cannot be transformed is left out: the complete image may be another case.
    func preview(_ codec: StreamingDecoder) throws -> PreviewPixels? {
        guard !transformations.isEmpty else { return try codec.preview(maximumSide: policy.maximumSide) }
        guard var preview = try codec.preview() else { return nil }
        let isTurned = codec.plan?.orientation.swapsAxes == true
        func rowCount(_ pixels: PixelBuffer) -> Int { isTurned ? pixels.width : pixels.height }
        let rows = rowCount(preview.pixels)
        do {
            preview.pixels = try preview.pixels.applying(transformations, limits: limits)
        } catch is CodecError {
            return nil
        }
        let newRows = rowCount(preview.pixels)
        preview.completeRows = min(preview.completeRows * newRows / max(rows, 1), newRows)
        return preview
    }
}
