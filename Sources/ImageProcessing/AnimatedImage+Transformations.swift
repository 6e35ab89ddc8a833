public import ImageCodecs

extension AnimatedImage {
    /// Returns the animation with `transformations` applied to each frame, when it is decoded; a still image is
    /// transformed immediately.
    ///
    /// They follow those of earlier calls. Throws as ``ImageCodecs/PixelBuffer/applying(_:limits:)`` does, and
    /// `CodecError.transformationFailed(_:_:)` if the pixels of each frame would determine the result
    /// (``ImageTransformation/dependsOnPixels``). Frames throw `CodecError.cancelled(_:)` if the task is canceled.
    public func applying(
        _ transformations: [ImageTransformation], limits: DecodeLimits = DecodeLimits()
    ) throws -> AnimatedImage {
        guard !transformations.isEmpty else { return self }
        if let still { return AnimatedImage(still: try still.applying(transformations, limits: limits)) }
        for transformation in transformations where transformation.dependsOnPixels {
            throw transformation.operation.failure(
                "it would show another part of each frame of the animation")
        }
        let output = try transformations.outputSize(for: size, limits: limits)
        // The decoder keeps the frame, which is copied.
        let workingBytes = transformations.workingBytes(for: size, options.pixelFormat, limits: limits)
            .saturatingSum(size.area * options.pixelFormat.bytesPerPixel)
        return changingFrames(
            by: TransformedFrames(
                previous: frameTransform, transformations: transformations, limits: limits, format: header.format,
                outputSize: output,
                workingBytes: workingBytes.saturatingSum(frameTransform?.workingBytes ?? 0)))
    }
}

extension DecodedImage {
    /// Returns the image with transformed pixels; the other properties describe the original.
    ///
    /// `DecodedImage.completeRows` becomes a mere proportion of the same side: it stands for the received
    /// part of the original, not for rows of the result. Throws as ``ImageCodecs/PixelBuffer/applying(_:limits:)``
    /// does.
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
    /// The change that precedes the transformations; `nil` for none.
    let previous: (any FrameTransform)?
    let transformations: [ImageTransformation]
    let limits: DecodeLimits
    /// The format of the file.
    let format: ImageFormat
    let outputSize: PixelSize
    let workingBytes: Int

    func apply(to frame: consuming PixelBuffer) throws(CodecError) -> PixelBuffer {
        var frame = frame
        if let previous { frame = try previous.apply(to: consume frame) }
        let result: PixelBuffer
        do {
            result = try (consume frame).applying(transformations, limits: limits)
        } catch let error as CodecError {
            throw error
        } catch {
            // No other error than that of a canceled task.
            throw .cancelled(format)
        }
        guard result.size == outputSize else {
            throw .transformationFailed(
                "animation", "the frame of \(result.size) does not have the declared size \(outputSize)")
        }
        return result
    }
}
