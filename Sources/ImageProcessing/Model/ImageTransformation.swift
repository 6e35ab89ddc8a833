public import ImageCodecs

/// A change to the pixels of an image, such as a crop or a blur.
///
/// A transformation is a value: equal transformations have equal results, and the ``identifier`` tells them apart in
/// keys of caches. Lists of transformations are applied in order:
///
/// ```swift
/// let size = PixelSize(width: 64, height: 64)
/// if let pixels = PixelBuffer(size: size, bytes: [UInt8](repeating: 128, count: size.area * 4)) {
///     let steps: [ImageTransformation] = [.crop(toAspectRatio: 4, 3), .rounded(radius: 8), .blur(sigma: 2)]
///     let result = try pixels.applying(steps)
///     print(result.size)
/// }
/// ```
///
/// Colors are encoded sRGB values, as most programs treat them, and keep their `PixelFormat`. Where pixels are mixed,
/// colors are premultiplied by alpha, so that transparent pixels do not bleed into others; pixels that are completely
/// transparent lose their color. In `PixelFormat.gray8`, which has no alpha, the result is blended over white.
public struct ImageTransformation: Sendable, Hashable, CustomStringConvertible {
    let operation: any PixelOperation
    /// The text that identifies the transformation and its parameters, such as `blur(8.0)`.
    ///
    /// It stays the same between versions of the library, as long as the result does.
    public let identifier: String

    /// The maximum length of a side, in pixels.
    static let longestSide = 1 << 24

    init(_ operation: any PixelOperation) {
        self.operation = operation
        identifier = "\(operation.name)(\(operation.parameters))"
    }

    /// The ``identifier``.
    public var description: String { identifier }

    /// Returns whether two transformations have equal results.
    public static func == (left: Self, right: Self) -> Bool { left.identifier == right.identifier }

    /// Hashes the ``identifier``.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }

    /// A Boolean value that indicates whether the pixels determine which part of the image the result shows.
    ///
    /// Such a transformation, like ``trim(tolerance:)``, cannot be applied to the frames of an animation, each of which
    /// would show another part.
    public var dependsOnPixels: Bool { operation.dependsOnPixels }

    /// Returns the size of the result for an image of `size`; the maximum, if pixels determine it.
    ///
    /// Throws `CodecError.transformationFailed(_:_:)` if the transformation cannot be applied to such an image.
    public func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize {
        guard size.width > 0, size.height > 0 else { throw operation.failure("the image has no pixels") }
        // Beyond all limits of decoding; products of smaller sides cannot overflow.
        let tooLarge = operation.failure("no side may be longer than \(Self.longestSide) pixels")
        guard max(size.width, size.height) <= Self.longestSide else { throw tooLarge }
        let output = try operation.outputSize(for: size)
        guard output.width > 0, output.height > 0 else { throw operation.failure("the result of \(output) is empty") }
        guard max(output.width, output.height) <= Self.longestSide else { throw tooLarge }
        return output
    }

    /// Returns the maximum memory that the transformation of an image of `size` needs in addition to the image, in bytes;
    /// 0 if it cannot be applied.
    public func workingBytes(for size: PixelSize, format: PixelFormat = .rgba8) -> Int {
        guard (try? outputSize(for: size)) != nil else { return 0 }
        return operation.workingBytes(for: size, format)
    }
}

extension PixelBuffer {
    /// Returns the image after `transformations`, in order.
    ///
    /// Takes no additional memory for the result of transformations that keep the size, unless the image is also used
    /// elsewhere. Throws `CodecError.transformationFailed(_:_:)` if one of them cannot be applied, errors of custom
    /// transformations as `transformationFailed`, and `CancellationError` if the task is canceled. Throws
    /// `CodecError.overLimit(_:value:limit:)` if a result would exceed the number of pixels or the sides in `limits`,
    /// or if, because of a transformation that depends on pixels, it would have more pixels than the image and all
    /// results according to ``ImageTransformation/outputSize(for:)``.
    public consuming func applying(
        _ transformations: [ImageTransformation], limits: DecodeLimits = DecodeLimits()
    ) throws -> PixelBuffer {
        let planned = try transformations.outputSizes(for: size, limits: limits)
        // Memory for an image of this size is planned for.
        let largest = planned.reduce(size.area) { max($0, $1.area) }
        var image = self
        for transformation in transformations {
            // A custom one, or one that depends on pixels, could have returned another size. Even a smaller image can
            // have a larger result: a narrow one is enlarged more if its shorter side is given.
            let output = try [transformation].outputSize(for: image.size, limits: limits)
            guard output.area <= largest else {
                throw CodecError.overLimit(.pixels, value: output.area, limit: largest)
            }
            image = try transformation.operation.apply(to: consume image)
        }
        return image
    }
}

extension [ImageTransformation] {
    /// Returns the size of the result for an image of `size`.
    ///
    /// Throws as ``ImageCodecs/PixelBuffer/applying(_:limits:)`` does.
    package func outputSize(for size: PixelSize, limits: DecodeLimits) throws(CodecError) -> PixelSize {
        try outputSizes(for: size, limits: limits).last ?? size
    }

    /// Returns the sizes of the results of all transformations, in order.
    fileprivate func outputSizes(for size: PixelSize, limits: DecodeLimits) throws(CodecError) -> [PixelSize] {
        var (size, sizes) = (size, [PixelSize]())
        for transformation in self {
            size = try transformation.outputSize(for: size)
            let side = Swift.max(size.width, size.height)
            guard side <= limits.maximumSide else {
                throw .overLimit(.side, value: side, limit: limits.maximumSide)
            }
            guard size.area <= limits.maximumPixels else {
                throw .overLimit(.pixels, value: size.area, limit: limits.maximumPixels)
            }
            sizes.append(size)
        }
        return sizes
    }

    /// Returns the maximum memory that the transformations of an image of `size` need in addition to it, in bytes; 0 if
    /// they cannot be applied.
    package func workingBytes(for size: PixelSize, _ format: PixelFormat, limits: DecodeLimits) -> Int {
        guard let sizes = try? outputSizes(for: size, limits: limits) else { return 0 }
        var most = 0
        for (transformation, current) in zip(self, [size] + sizes) {
            let (held, overflow) = Swift.max(0, current.area - size.area).multipliedReportingOverflow(
                by: format.bytesPerPixel)
            let (sum, sumOverflow) = held.addingReportingOverflow(
                transformation.workingBytes(for: current, format: format))
            most = Swift.max(most, overflow || sumOverflow ? .max : sum)
        }
        return most
    }
}
