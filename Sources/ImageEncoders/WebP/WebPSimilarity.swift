import ImageCodecs

/// The rule for the pixels of an animated WebP that stay as they are when the next frame is shown.
struct WebPSimilarity {
    /// A Boolean value that indicates whether only equal pixels may stay.
    let isLossless: Bool
    /// The maximum difference of a channel of an opaque pixel.
    private let tolerance: Int

    init(_ options: WebPOptions) {
        isLossless = options.isLossless
        // From 31 at the lowest quality to 1 at the highest, as in libwebp's encoder of animations.
        let quality = Double(min(max(options.quality, 1), 100)) / 100
        tolerance = options.isLossless ? 0 : Int((31 - 30 * quality.squareRoot()).rounded())
    }

    /// The side of the blocks that stay as they are, in pixels.
    ///
    /// In a lossy frame, a transparent area of any other shape would take more space than it saves.
    var blockSide: Int { isLossless ? 1 : 8 }

    /// Returns whether the pixel at `offset` of the bytes `old` may stay instead of the one of `new`.
    func keeps(_ old: [UInt8], insteadOf new: [UInt8], at offset: Int) -> Bool {
        let alpha = Int(new[offset + 3])
        guard Int(old[offset + 3]) == alpha else { return false }
        // The more transparent a pixel is, the less its colors matter.
        let weight = isLossless ? 255 : alpha
        for channel in offset..<offset + 3
        where abs(Int(old[channel]) - Int(new[channel])) * weight > tolerance * 255 {
            return false
        }
        return true
    }

    /// Returns the smallest rectangle that contains all pixels of `frame` for which those of `canvas`, an image of the
    /// same size, may not stay; `nil` if there are none.
    func difference(of frame: PixelBuffer, from canvas: PixelBuffer) -> PixelRectangle? {
        let (old, new) = (canvas.bytes, frame.bytes)
        return frame.bounds { keeps(old, insteadOf: new, at: $0) }
    }
}
