public import ImageCodecs

/// An encoder of images and animations of one format, with its options.
///
/// The built-in formats have encoders of this kind. Pass another one to ``EncodeOptions/init(_:)``, for a format that
/// your application adds. Values with equal options are equal. One value serves many concurrent encodings.
public protocol ImageEncoder: Sendable, Hashable {
    /// The format of the files.
    var format: ImageFormat { get }

    /// A text that is equal for equal values, in all processes, and different for all others, such as `jpeg 85`.
    ///
    /// A response cache stores files under it.
    var identity: String { get }

    /// A Boolean value that indicates whether images in `PixelFormat.rgba16` are passed as they are; otherwise, the
    /// default, they are reduced to 8 bits per channel.
    var supports16Bit: Bool { get }

    /// A Boolean value that indicates whether files of the format store transparency; `true` by default.
    var storesTransparency: Bool { get }

    /// A Boolean value that indicates whether files of the format store animations; `false` by default.
    var storesAnimations: Bool { get }

    /// A Boolean value that indicates whether writers of animations tell the size of the file while it grows; `true` by
    /// default.
    ///
    /// Otherwise, an animation is encoded only once the memory for the largest file that is allowed is available.
    var limitsAnimations: Bool { get }

    /// The quality, from 1 to 100, of files that can be smaller with a lower one; `nil`, the default, of all others.
    var adjustableQuality: Int? { get }

    /// Returns an encoder with the same options and another quality; the same encoder by default.
    func with(quality: Int) -> Self

    /// Returns the maximum number of bytes that encoding a still image takes, including the file, for an image that
    /// hardly compresses; with `hasAlpha`, its pixels can be transparent.
    func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int

    /// Returns the maximum number of bytes that a writer of animations takes, without the file; 40 per pixel of a frame
    /// by default.
    func animationBytes(for size: PixelSize) -> Int

    /// Returns `pixels` as a file with `metadata`.
    ///
    /// The image has pixels. Its format is `PixelFormat.rgba8`, or `PixelFormat.rgba16` if the encoder supports it.
    /// Throws `encodingFailed`, also for metadata that the format cannot store.
    func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8]

    /// Creates a writer of animations whose frames have `size`, played `repetitionCount` times; 0 means forever.
    ///
    /// Throws `encodingFailed`, as it does by default, if the format has no animations.
    func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter
}

extension ImageEncoder {
    /// `false`: all images are passed with 8 bits per channel.
    public var supports16Bit: Bool { false }

    /// `true`: the format stores transparency.
    public var storesTransparency: Bool { true }

    /// `false`: the format stores only still images.
    public var storesAnimations: Bool { false }

    /// `true`: writers tell the size of the file.
    public var limitsAnimations: Bool { true }

    /// `nil`: a file has no smaller form.
    public var adjustableQuality: Int? { nil }

    /// Returns the same encoder.
    public func with(quality: Int) -> Self { self }

    /// Returns 40 bytes for each pixel.
    public func animationBytes(for size: PixelSize) -> Int { 40 * size.area }

    /// Throws `encodingFailed`: the format has no animations.
    public func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter {
        throw .encodingFailed(format, "\(format.name) has no animations")
    }
}

/// A writer of one animation: frames in, a file out.
///
/// It is used by one task at a time, and not after an error.
public protocol AnimationWriter: AnyObject {
    /// The number of bytes that the file has so far, all of which are in memory.
    var byteCount: Int { get }
    /// Adds the next frame, which has the animation's size and the format `PixelFormat.rgba8`.
    func append(_ frame: PixelBuffer, delay: Duration) throws(CodecError)
    /// Returns the file, after at least one frame.
    func finish() throws(CodecError) -> [UInt8]
}
