/// One state of an image that is arriving: a preview, or the final image.
public struct ImageFrame: Sendable {
    /// The image at the size asked for; of a large image a preview is smaller (``ProgressivePolicy/maximumSide``), and what
    /// has not come yet is transparent black in it.
    public let pixels: PixelBuffer
    /// A Boolean value that indicates whether this is the finished image, which is always the last frame; if partial
    /// images are allowed, it may be one.
    public let isFinal: Bool
    /// How many rows have come, as stored and scaled to `pixels`.
    public let completeRows: Int
    /// Which scan or pass of a progressive image this shows, from 1; nil otherwise, and in the final frame.
    public let scan: Int?
    /// The finished image's response; nil in a preview.
    public let response: ImageResponse?

    init(_ preview: ImagePreview) {
        pixels = preview.pixels
        isFinal = false
        completeRows = preview.completeRows
        scan = preview.scan
        response = nil
    }

    init(final response: ImageResponse) {
        pixels = response.pixels
        isFinal = true
        completeRows = response.image.completeRows
        scan = nil
        self.response = response
    }
}
