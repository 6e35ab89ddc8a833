public import ImageCodecs

extension ImageTransformation {
    /// A Gaussian blur with the standard deviation `sigma`, 0 to 1,000 pixels; edge pixels continue beyond the edges.
    public static func blur(sigma: Double) -> Self { Self(Blur(sigma: sigma, sharpening: nil)) }

    /// An unsharp mask: adds `amount`, 0 to 100, of the difference to the blurred image.
    ///
    /// `sigma` is the standard deviation of the blur, 0 to 1,000 pixels. Alpha stays.
    public static func sharpen(sigma: Double = 1, amount: Double = 1) -> Self {
        Self(Blur(sigma: sigma, sharpening: amount))
    }

    /// Corners rounded with `radius`, in pixels, but at most half the shorter side; antialiased.
    public static func rounded(radius: Double) -> Self { Self(Round(radius: radius)) }

    /// The largest circle in the middle of the image; antialiased.
    public static let circle = Self(Round(radius: nil))

    /// The colors multiplied by `factor`, 0 to 1,000: 0 is black, 1 changes nothing.
    ///
    /// As the `brightness` filter of CSS (Filter Effects Level 1).
    public static func brightness(_ factor: Double) -> Self { Self(ColorMatrix.brightness(factor)) }

    /// The distances of the colors from medium gray multiplied by `factor`, 0 to 1,000: 0 is gray, 1 changes nothing.
    ///
    /// As the `contrast` filter of CSS (Filter Effects Level 1).
    public static func contrast(_ factor: Double) -> Self { Self(ColorMatrix.contrast(factor)) }

    /// The distances of the colors from their luma multiplied by `factor`, 0 to 1,000: 0 is ``grayscale``, 1 changes
    /// nothing.
    public static func saturation(_ factor: Double) -> Self { Self(ColorMatrix.saturation(factor)) }

    /// Each color replaced by its luma (BT.601), as in `PixelFormat.gray8`; the format stays.
    public static let grayscale = saturation(0)

    /// `color`, which is usually translucent, over all pixels; alpha stays.
    public static func tint(_ color: PixelColor) -> Self { Self(ColorMatrix.tint(color)) }

    /// The image in front of `color`.
    public static func flatten(onto color: PixelColor) -> Self { Self(Flatten(color: color)) }

    /// `image` in front of the image, with `opacity` from 0 to 1, aligned at `position`.
    ///
    /// With `isTiled`, it is repeated in all directions. Otherwise, it fails if it is larger than the image.
    public static func overlay(
        _ image: PixelBuffer, at position: Position = .center, opacity: Double = 1, isTiled: Bool = false
    ) -> Self {
        Self(Overlay(image, position: position, opacity: opacity, isTiled: isTiled))
    }

    /// A transformation of the application.
    ///
    /// `identifier` must differ for all transformations with different results, also between versions of the
    /// application if results are stored. `outputSize` returns the maximum size of the result, by default the size of the
    /// image, and `workingBytes` the memory needed in addition to the image, including the result unless it replaces the
    /// image in its memory. `transform` is called from any thread, also for frames of animations, and should check
    /// `Task.isCancelled` if it takes long. Its result must have the pixel format of the image and, for frames of
    /// animations, exactly the size that `outputSize` returns. Its errors become
    /// `CodecError.transformationFailed(_:_:)`.
    public static func custom(
        identifier: String, outputSize: @escaping @Sendable (PixelSize) -> PixelSize = { $0 },
        workingBytes: @escaping @Sendable (PixelSize) -> Int,
        _ transform: @escaping @Sendable (consuming PixelBuffer) throws -> PixelBuffer
    ) -> Self {
        Self(
            CustomOperation(
                parameters: identifier, size: outputSize, workingBytes: workingBytes, transform: transform))
    }
}
