import ImageCodecs
/// A state of an arriving image: a preview or the final image.
public struct ImagePreview: Sendable {
    /// The image at the requested size.
    ///
    /// A preview of a large image can be smaller (``PreviewPolicy/maximumSide``), unless it is transformed. In a
    /// preview, pixels that have not arrived are transparent black, or white in the format `gray8`, which has no alpha.
    public let pixels: PixelBuffer
    /// A Boolean value that indicates whether this is the final image, which is always the last element.
    ///
    /// With ``DecodeOptions/allowsPartial``, the final image can be partial.
    public let isFinal: Bool
    /// The number of rows of `pixels` that have been received.
    ///
    /// If the orientation rotates the image by 90 degrees, this is a number of columns. After transformations, it is
    /// only the received proportion of the original, relative to that side of `pixels`.
    public let completeRows: Int
    /// The scan or pass of a progressive image, counted from 1; `nil` for other images and for the final one.
    public let scan: Int?
    /// The response of the final image; `nil` for previews.
    public let response: ImageResponse?

    init(_ preview: PreviewPixels) {
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
