/// What a decode will do and cost, known as soon as the header is.
public struct DecodePlan: Sendable, Hashable {
    /// Size of the image as stored.
    public let storedSize: PixelSize
    /// Size of the rows the codec hands out: the stored size, or less where the codec scales (JPEG in steps of 1/8).
    public let rowSize: PixelSize
    /// Size of the result before it is turned upright.
    public let scaledSize: PixelSize
    /// How the rows are turned on their way into the result.
    public let orientation: ImageOrientation
    /// Most bytes of memory the decode holds at once: codec state, filter window, and the result.
    public let estimatedBytes: Int

    /// Size of the result.
    public var outputSize: PixelSize { scaledSize.upright(orientation) }
}
