public import HTTPSemantics
public import HTTPTransport
public import ResponseCache

/// The properties of an image, read from the beginning of its file.
public struct ImageInfo: Sendable {
    /// The format, size, orientation, and other properties in the file's header.
    public let header: ImageHeader
    /// The number of bytes of the body that had been received when the header was complete; if the frames of an
    /// animation were read, the size of the file.
    public let byteCount: Int
    /// The frames with their durations and repetitions, if ``ImageLoader/info(for:readsAnimation:)`` was called with
    /// `readsAnimation` and the file may be an animation.
    ///
    /// For a GIF with a single frame, it holds the decoded pixels of that frame instead of the compressed file.
    public let animation: AnimatedImage?
    private let origin: ResponseOrigin

    /// The status and header fields of the response.
    public var head: ResponseHead { origin.head }
    /// How long the response stays fresh, from now; determined on every access.
    public var freshness: Freshness { head.freshness() }
    /// The source of the bytes, for this caller.
    public var source: ResponseSource { origin.source }
    /// The durations and sizes of the transfer; `nil` if the properties were known before the transfer had ended.
    public var metrics: TransferMetrics? { origin.metrics }

    init(_ summary: FileSummary, origin: ResponseOrigin) {
        header = summary.header
        byteCount = summary.byteCount
        animation = summary.animation
        self.origin = origin
    }
}

/// The properties of an image file as far as a decode reads them.
struct FileSummary: Sendable {
    let header: ImageHeader
    /// The number of bytes received when the header, or the animation, was complete.
    let byteCount: Int
    var animation: AnimatedImage?
}
