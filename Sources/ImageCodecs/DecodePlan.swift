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
    ///
    /// Previews are extra: each that is kept costs as much as the result.
    public let estimatedBytes: Int

    /// Size of the result.
    public var outputSize: PixelSize { scaledSize.upright(orientation) }
}

extension DecodePlan {
    /// The plan for a file with this header, whose size has been checked against its limits.
    ///
    /// Throws `overLimit` if the number of bytes cannot even be counted.
    init(header: ImageHeader, options: DecodeOptions, decoder: any RowDecoder.Type) throws(CodecError) {
        storedSize = header.size
        orientation = options.ignoresOrientation ? .up : header.orientation
        scaledSize = DownscalePlan.scaledSize(of: storedSize, orientation: orientation, target: options.target)
        rowSize = scaledSize == storedSize ? storedSize : decoder.rowSize(of: header, for: scaledSize)

        let (output, overflow) = scaledSize.area.multipliedReportingOverflow(by: 4)
        var terms = [
            decoder.workingBytes(of: header, rowSize: rowSize),
            OrientedCanvas.workingBytes(stored: scaledSize, orientation: orientation),
        ]
        if rowSize != scaledSize { terms.append(BandResampler.workingBytes(from: rowSize, to: scaledSize)) }
        // Turning afterwards makes a copy.
        if header.orientationFollowsPixels, !options.ignoresOrientation { terms.append(overflow ? .max : output) }
        var sum = overflow ? Int.max : output
        for term in terms {
            let (next, overflow) = sum.addingReportingOverflow(term)
            sum = overflow ? .max : next
        }
        guard sum < .max else { throw .overLimit(.memory, value: .max, limit: .max - 1) }
        estimatedBytes = sum
    }
}
