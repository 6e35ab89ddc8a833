public import ImageCodecs
public import ImageEncoders

/// Writes QOI, and animations of it (see ``QOIAnimation``).
public struct QOIEncoder: ImageEncoder {
    /// The format of the files.
    public let format = QOIFormat().format
    /// A Boolean value that indicates whether the header says that there is alpha even if all pixels are opaque.
    public var alwaysHasAlpha: Bool

    /// A Boolean value that indicates that animations are stored.
    public let storesAnimations = true

    /// Creates an encoder; by default, opaque images have three channels.
    public init(alwaysHasAlpha: Bool = false) {
        self.alwaysHasAlpha = alwaysHasAlpha
    }

    /// The format and its option.
    public var identity: String { "qoi \(alwaysHasAlpha)" }

    /// Returns the size of the longest file, of five bytes per pixel, in bytes.
    public func workingBytes(for size: PixelSize, hasAlpha: Bool) -> Int { size.area * 5 + 64 }

    /// Returns the image as a QOI file, which stores no metadata.
    public func encode(_ pixels: PixelBuffer, metadata: ImageMetadata) throws(CodecError) -> [UInt8] {
        var file = pixels.qoi()
        let isOpaque = stride(from: 3, to: pixels.bytes.count, by: 4).allSatisfy { pixels.bytes[$0] == 255 }
        if isOpaque, !alwaysHasAlpha { file[12] = 3 }
        return file
    }

    /// Creates a writer of animations.
    public func animationWriter(
        size: PixelSize, repetitionCount: Int, metadata: ImageMetadata
    ) throws(CodecError) -> any AnimationWriter {
        QOIAnimationWriter(size: size, repetitionCount: repetitionCount)
    }
}

/// Writes the frames of an animation one after the other.
private final class QOIAnimationWriter: AnimationWriter {
    private var file: [UInt8]

    init(size: PixelSize, repetitionCount: Int) {
        file = Array("qoia".utf8)
        for side in [size.width, size.height] { append(side, bytes: 4) }
        append(min(repetitionCount, 65_535), bytes: 2)
    }

    var byteCount: Int { file.count }

    func append(_ frame: PixelBuffer, delay: Duration) {
        let image = frame.qoi()
        append(Int(min(delay / .milliseconds(1), 65_535)), bytes: 2)
        append(image.count, bytes: 4)
        file += image
    }

    func finish() -> [UInt8] { file }

    private func append(_ number: Int, bytes: Int) {
        for index in (0..<bytes).reversed() { file.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }
}
