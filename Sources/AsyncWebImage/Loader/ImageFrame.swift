/// One state of an image that is arriving: a preview, or the final image.
public struct ImageFrame: Sendable {
    /// The image at the size asked for; of a large image a preview is smaller (``ProgressivePolicy/maximumSide``), and what
    /// has not come yet is transparent black in it.
    public let pixels: PixelBuffer
    /// Whether this is the finished image, which is always the last frame.
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
        let isOnItsSide = response.image.originalSize != response.image.header.size
        completeRows = isOnItsSide ? response.pixels.width : response.pixels.height
        scan = nil
        self.response = response
    }
}
