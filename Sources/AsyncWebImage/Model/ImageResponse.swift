public import ResponseCache

/// A loaded image and where it came from.
public struct ImageResponse: Sendable {
    /// Pixels, header and original size.
    public let image: DecodedImage
    /// Where the pixels came from, for this caller.
    public let source: ResponseSource
    /// Bytes of body that were downloaded for it, by whoever asked first.
    public let byteCount: Int
    /// How many pixels make a point on the screens that the file is for: 2 or 3 if its name ends in `@2x` or `@3x`, else 1.
    public let scale: Int

    init(image: DecodedImage, source: ResponseSource, byteCount: Int, scale: Int = 1) {
        self.image = image
        self.source = source
        self.byteCount = byteCount
        self.scale = scale
    }

    /// The pixels alone.
    public var pixels: PixelBuffer { image.pixels }
    /// A Boolean value that indicates whether something is missing, as the request's options allowed; see
    /// ``DecodedImage/isPartial``.
    public var isPartial: Bool { image.isPartial }
}

/// A loaded animation and where it came from.
public struct AnimationResponse: Sendable {
    /// The animation; its frames are decoded when they are asked for.
    public let animation: AnimatedImage
    /// Where it came from, for this caller.
    public let source: ResponseSource
    /// Bytes of body that were downloaded for it, by whoever asked first.
    public let byteCount: Int
}

/// A downloaded body as it came, not decoded.
public struct ImageData: Sendable {
    /// The body.
    public let bytes: [UInt8]
    /// Where the bytes came from, for this caller.
    public let source: ResponseSource
    let delivery: Delivery

    /// Status and header fields of the response.
    public var head: ResponseHead { delivery.head }
    /// Where the time went.
    public var metrics: TransferMetrics { delivery.metrics }
}

/// What came with a body, shared by all who get it.
final class Delivery: Sendable {
    let head: ResponseHead
    let metrics: TransferMetrics

    init(head: ResponseHead, metrics: TransferMetrics) {
        self.head = head
        self.metrics = metrics
    }
}

/// What the beginning of a download tells of the image.
public struct ImageInfo: Sendable {
    /// Format, size, orientation and so on.
    public let header: ImageHeader
    /// Bytes of body that had come when the header was complete; of an animation that was read, all.
    public let byteCount: Int
    /// The frames, their number, times and repetitions, if they were to be read and the file may be an animation.
    ///
    /// A GIF of one frame is decoded.
    public let animation: AnimatedImage?

    init(header: ImageHeader, byteCount: Int, animation: AnimatedImage? = nil) {
        self.header = header
        self.byteCount = byteCount
        self.animation = animation
    }
}
