public import ImageCodecs

extension AnimatedImage {
    /// Returns the animation with `transformations` applied to each frame, when it is decoded; a still image is
    /// transformed immediately.
    ///
    /// Throws as ``ImageCodecs/PixelBuffer/applying(_:limits:)`` does, and ``CodecError/transformationFailed(_:_:)`` if
    /// the pixels of each frame would determine the result (``ImageTransformation/dependsOnPixels``).
    public func applying(
        _ transformations: [ImageTransformation], limits: DecodeLimits = DecodeLimits()
    ) throws -> AnimatedImage {
        guard !transformations.isEmpty else { return self }
        if let still { return AnimatedImage(still: try still.applying(transformations, limits: limits)) }
        for transformation in transformations where transformation.dependsOnPixels {
            throw transformation.operation.failure(
                "it would show another part of each frame of the animation")
        }
        return changingFrames(
            by: TransformedFrames(
                transformations: transformations, limits: limits,
                outputSize: try transformations.outputSize(for: size, limits: limits),
                // The decoder keeps the frame, which is copied.
                workingBytes: transformations.workingBytes(for: size, options.pixelFormat, limits: limits)
                    .saturatingSum(size.area * options.pixelFormat.bytesPerPixel)))
    }
}

extension DecodedImage {
    /// Returns the image with transformed pixels; the other properties describe the original.
    ///
    /// ``ImageCodecs/DecodedImage/completeRows`` stays in proportion. Throws as
    /// ``ImageCodecs/PixelBuffer/applying(_:limits:)`` does.
    public consuming func applying(
        _ transformations: [ImageTransformation], limits: DecodeLimits = DecodeLimits()
    ) throws -> DecodedImage {
        let isTurned = originalSize != header.size
        func rowCount(_ pixels: PixelBuffer) -> Int { isTurned ? pixels.width : pixels.height }
        var image = self
        let (rows, complete) = (rowCount(image.pixels), image.completeRows)
        // Nothing else keeps the pixels, so that they can be replaced in their memory.
        let pixels = image.pixels
        image.pixels = PixelBuffer(transparent: PixelSize(width: 0, height: 0))
        image.pixels = try (consume pixels).applying(transformations, limits: limits)
        image.completeRows =
            complete >= rows ? rowCount(image.pixels) : complete * rowCount(image.pixels) / max(rows, 1)
        return image
    }
}

/// Transformations of the frames of an animation.
private struct TransformedFrames: FrameTransform {
    let transformations: [ImageTransformation]
    let limits: DecodeLimits
    let outputSize: PixelSize
    let workingBytes: Int

    func apply(to frame: consuming PixelBuffer) throws(CodecError) -> PixelBuffer {
        do {
            return try frame.applying(transformations, limits: limits)
        } catch let error as CodecError {
            throw error
        } catch {
            throw .transformationFailed("animation", "the task has been canceled")
        }
    }
}
