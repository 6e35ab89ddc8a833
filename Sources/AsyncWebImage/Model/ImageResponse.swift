public import ResponseCache

/// A loaded image and its origin.
public struct ImageResponse: Sendable {
    /// The decoded image with its header and original size.
    public let image: DecodedImage
    /// The source of the pixels for this caller.
    public let source: ResponseSource
    /// The number of bytes of body downloaded for it, regardless of which caller started the download.
    public let byteCount: Int
    /// The display scale of the file: 2 or 3 if its name ends with `@2x` or `@3x`, otherwise 1.
    public let scale: Int

    init(image: DecodedImage, source: ResponseSource, byteCount: Int, scale: Int = 1) {
        self.image = image
        self.source = source
        self.byteCount = byteCount
        self.scale = scale
    }

    /// The pixels of the image.
    public var pixels: PixelBuffer { image.pixels }
    /// A Boolean value that indicates whether part of the image is missing, as the request's options allow; see
    /// ``DecodedImage/isPartial``.
    public var isPartial: Bool { image.isPartial }
}

/// A loaded animation and its origin.
public struct AnimationResponse: Sendable {
    /// The animation, whose frames are decoded on demand.
    public let animation: AnimatedImage
    /// The source of the animation for this caller.
    public let source: ResponseSource
    /// The number of bytes of body downloaded for it, regardless of which caller started the download.
    public let byteCount: Int
}

/// A downloaded body, not decoded.
public struct ImageData: Sendable {
    /// The body.
    public let bytes: [UInt8]
    /// The source of the bytes for this caller.
    public let source: ResponseSource
    let delivery: Delivery

    /// The status and header fields of the response.
    public var head: ResponseHead { delivery.head }
    /// The timing metrics of the transfer.
    public var metrics: TransferMetrics { delivery.metrics }
}

/// The response head and metrics of a body, shared by all its callers.
final class Delivery: Sendable {
    let head: ResponseHead
    let metrics: TransferMetrics

    init(head: ResponseHead, metrics: TransferMetrics) {
        self.head = head
        self.metrics = metrics
    }
}

/// The properties of an image, read from the beginning of its file.
public struct ImageInfo: Sendable {
    /// The header: format, size, orientation, and more.
    public let header: ImageHeader
    /// The number of bytes of body received when the header was complete; all bytes if an animation was read.
    public let byteCount: Int
    /// The frames, with their delays and repetitions, if they were requested and the file can be an animation.
    ///
    /// A GIF with a single frame is decoded.
    public let animation: AnimatedImage?

    init(header: ImageHeader, byteCount: Int, animation: AnimatedImage? = nil) {
        self.header = header
        self.byteCount = byteCount
        self.animation = animation
    }
}
