public import HTTPSemantics
public import HTTPTransport
public import ResponseCache

/// A loaded image and the response it was decoded from.
public struct ImageResponse: Sendable {
    /// The pixels, the header, and the original size.
    public let image: DecodedImage
    /// The display scale of the file: 2 or 3 if its name contains `@2x` or `@3x` before a dot, as in `icon@2x.png`;
    /// otherwise 1.
    public let scale: Int
    let origin: ResponseOrigin

    init(image: DecodedImage, origin: ResponseOrigin, scale: Int = 1) {
        self.image = image
        self.origin = origin
        self.scale = scale
    }

    /// The pixels of the image.
    public var pixels: PixelBuffer { image.pixels }
    /// A Boolean value that indicates whether a part of the image is missing, as the request's options allowed; see
    /// ``DecodedImage/isPartial``.
    public var isPartial: Bool { image.isPartial }
    /// The status and header fields of the response.
    ///
    /// For an image from ``ImageLoader/imageCache``, they are those of the response from which the image was decoded.
    /// To load the image again only if it has changed, set ``ImageRequest/knownVersion`` to
    /// `ResponseVersion(response.head)`.
    public var head: ResponseHead { origin.head }
    /// How long the response stays fresh, from now; determined on every access.
    public var freshness: Freshness { head.freshness() }
    /// The source of the pixels, for this caller.
    public var source: ResponseSource { origin.source }
    /// The size of the downloaded body in bytes.
    public var byteCount: Int { origin.byteCount }
    /// The durations and sizes of the transfer; `nil` if the image was complete before the transfer had ended.
    public var metrics: TransferMetrics? { origin.metrics }
}

/// A loaded animation and the response it was read from.
public struct AnimationResponse: Sendable {
    /// The animation, whose frames are decoded on demand.
    public let animation: AnimatedImage
    let origin: ResponseOrigin

    /// The status and header fields of the response.
    public var head: ResponseHead { origin.head }
    /// How long the response stays fresh, from now; determined on every access.
    public var freshness: Freshness { head.freshness() }
    /// The source of the animation, for this caller.
    public var source: ResponseSource { origin.source }
    /// The size of the downloaded body in bytes.
    public var byteCount: Int { origin.byteCount }
    /// The durations and sizes of the transfer; `nil` if the animation was complete before the transfer had ended.
    public var metrics: TransferMetrics? { origin.metrics }
}
