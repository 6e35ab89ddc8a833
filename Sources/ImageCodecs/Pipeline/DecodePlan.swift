/// What a decode will do and cost, known as soon as the header is.
public struct DecodePlan: Sendable, Hashable {
    /// Size of the image as stored.
    public let storedSize: PixelSize
    /// Size of the rows the codec hands out: the stored size, or less where the codec scales (JPEG to 1/2, 1/4 or 1/8).
    public let rowSize: PixelSize
    /// Size of the result before it is turned upright.
    public let scaledSize: PixelSize
    /// How much of the stored image is shown, in its pixels, rounded up: all of it, unless a fill cuts off edges.
    public let shownSize: PixelSize
    /// How the rows are turned on their way into the result.
    public let orientation: ImageOrientation
    /// The part of the rows that is shown.
    let rowRegion: PixelRegion
    /// The maximum number of bytes of memory the decode holds at once: codec state, filter window, and the result.
    ///
    /// Previews are extra: each that is kept costs as much as the result. So does the turning of a PNG whose orientation
    /// stands behind its pixels: few have one, nothing announces it, and all others would have to pay for twice as much.
    public private(set) var estimatedBytes: Int

    /// Size of the result; where the orientation follows the pixels, of what the result is made of then.
    public var outputSize: PixelSize { scaledSize.upright(orientation) }
}

extension DecodePlan {
    /// The plan for a file with this header, whose size has been checked against its limits.
    ///
    /// Throws `overLimit` if the number of bytes cannot even be counted, and `decoderFault`.
    init(header: ImageHeader, options: DecodeOptions, format descriptor: any FormatDescriptor) throws(CodecError) {
        storedSize = header.size
        orientation = options.ignoresOrientation ? .up : header.orientation
        let isUndecided = header.orientationFollowsPixels && !options.ignoresOrientation
        let scaling =
            isUndecided
            ? ScalePlan(undecided: storedSize, options: options)
            : ScalePlan(of: storedSize, orientation: orientation, options: options)
        scaledSize = scaling.scaledSize
        shownSize = scaling.region.size
        rowSize = scaling.isUnscaled ? storedSize : try descriptor.rowSize(of: header, for: scaling.wholeSize)
        rowRegion = scaling.region.scaled(from: storedSize, to: rowSize)

        let format = options.pixelFormat
        let (output, overflow) = scaledSize.area.multipliedReportingOverflow(by: format.bytesPerPixel)
        var terms = [
            descriptor.workingBytes(of: header, rowSize: rowSize),
            OrientedCanvas.workingBytes(stored: scaledSize, orientation: orientation, format: format),
            format == .rgba8 ? 0 : scaledSize.width * format.bytesPerPixel,  // a row that is converted
        ]
        if format == .rgba16 {
            // The rows of a codec that has so many bits are twice as long; of others one is widened.
            if header.bitsPerChannel == 16 { terms.append(descriptor.workingBytes(of: header, rowSize: rowSize)) }
            terms.append(rowSize.width * format.bytesPerPixel)
        }
        if rowSize != scaledSize, !scaling.isUnscaled {
            terms.append(
                BandResampler.workingBytes(
                    from: rowSize, region: rowRegion, to: scaledSize, filter: options.resampling.filter))
        }
        // Turning and fitting afterward makes a copy, no larger.
        if isUndecided {
            terms += [
                overflow ? .max : output,
                OrientedCanvas.workingBytes(stored: scaledSize, orientation: .right, format: format),
                BandResampler.workingBytes(from: scaledSize, to: scaledSize, filter: options.resampling.filter),
            ]
        }
        var sum = overflow ? Int.max : output
        for term in terms {
            let (next, overflow) = sum.addingReportingOverflow(term)
            sum = overflow ? .max : next
        }
        guard sum < .max else { throw .overLimit(.memory, value: .max, limit: .max - 1) }
        estimatedBytes = sum
    }

    /// The same for a decode that holds so many bytes more, for each stored pixel and altogether.
    func adding(bytesPerPixel: Int = 0, bytes: Int = 0) throws(CodecError) -> DecodePlan {
        let (pixels, overflow) = storedSize.area.multipliedReportingOverflow(by: bytesPerPixel)
        guard !overflow else { throw .overLimit(.memory, value: .max, limit: .max - 1) }
        let (sum, sumOverflow) = estimatedBytes.addingReportingOverflow(pixels + min(bytes, .max - pixels))
        guard !sumOverflow else { throw .overLimit(.memory, value: .max, limit: .max - 1) }
        var plan = self
        plan.estimatedBytes = sum
        return plan
    }
}
