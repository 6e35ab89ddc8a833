import ImageCodecs

/// The work of an ``ImageTransformation``.
protocol PixelOperation: Sendable {
    /// The name for messages, such as `crop`.
    var name: String { get }

    /// The parameters as text: equal for operations with equal results, different for all others.
    var parameters: String { get }

    /// A Boolean value that indicates whether the pixels determine the size or the part of the result.
    var dependsOnPixels: Bool { get }

    /// Returns the size of the result for an image of `size`, which is not empty; the maximum, if pixels determine it.
    ///
    /// Throws if the operation cannot be applied to such an image.
    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize

    /// Returns the maximum memory needed in addition to an image of `size` and `format`, in bytes.
    ///
    /// This includes a result that does not replace the image in its memory.
    func workingBytes(for size: PixelSize, _ format: PixelFormat) -> Int

    /// Returns the result, which replaces `image` in its memory if possible.
    ///
    /// The size of the image has been checked by `outputSize`. Throws `CancellationError` if the task is canceled.
    func apply(to image: consuming PixelBuffer) throws -> PixelBuffer
}

extension PixelOperation {
    var dependsOnPixels: Bool { false }

    func outputSize(for size: PixelSize) throws(CodecError) -> PixelSize { size }

    /// Returns the error that states why the operation cannot be applied.
    func failure(_ reason: String) -> CodecError { .transformationFailed(name, reason) }

    /// Returns the memory of a result that is not stored in place, in bytes; saturates instead of overflowing.
    func outputBytes(for size: PixelSize, _ format: PixelFormat) -> Int {
        guard let output = try? outputSize(for: size) else { return 0 }
        let (bytes, overflow) = output.area.multipliedReportingOverflow(by: format.bytesPerPixel)
        return overflow ? .max : bytes
    }
}
