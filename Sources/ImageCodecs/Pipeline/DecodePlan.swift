/// The sizes and the memory cost of a decode, known as soon as the header is.
public struct DecodePlan: Sendable, Hashable {
    /// The size of the stored image in pixels.
    public let storedSize: PixelSize
    /// The size of the rows that the codec produces: the stored size, or another one if the codec scales, as for JPEG
    /// (to 1/2, 1/4, or 1/8), opaque WebP, and SVG (to any size).
    public let rowSize: PixelSize
    /// The size of the result in pixels before it is turned upright.
    public let scaledSize: PixelSize
    /// The size of the visible part of the stored image, in pixels of that image, rounded up.
    ///
    /// It is the size of the whole image, unless the target crops edges (``DecodeOptions/Target/fill(_:)``).
    public let visibleSize: PixelSize
    /// The orientation applied to the rows.
    public let orientation: ImageOrientation
    /// The part of the rows that is shown.
    let rowRegion: PixelRegion
    /// The plan for an image on its side, which a PNG can turn out to be after its pixels; `nil` if its size is the same.
    let sidewaysScaling: ScalePlan?
    /// A Boolean value that indicates whether the codec passes rows as planes, which are scaled before they are converted
    /// to RGB.
    let scalesPlanes: Bool
    /// A Boolean value that indicates whether rows have 16 bits per channel until their colors are converted, or in the
    /// result as well.
    let usesDeepRows: Bool
    /// The maximum memory that the decode holds at once, in bytes: codec state, filter window, and the result.
    ///
    /// Two uses of memory are not included. Each retained preview needs as much as the result. A PNG whose orientation
    /// is stored after its pixels needs additional memory to be turned upright: this is rare and cannot be known in
    /// advance, and reserving memory for it would double the cost of every PNG. (If the target gives an image on its side
    /// another size, a PNG is scaled to both sizes, which is included.) Memory that an `ImageDecoder` reuses for the
    /// result can be a sixteenth larger than the result.
    public private(set) var estimatedBytes: Int

    /// The size of the result in pixels.
    ///
    /// If the orientation is stored after the pixels, this is the size before it is applied.
    public var outputSize: PixelSize { scaledSize.upright(orientation) }
}

extension ScalePlan {
    /// Returns whether planes of the stored image can be scaled instead of pixels with these options.
    ///
    /// Chroma, which has half the resolution, is never enlarged. Beyond a scale of about 3.25, scaling by the codec to
    /// twice the target takes less memory: 4 bytes for each pixel of its output, against 1.5 for each stored pixel.
    fileprivate func suitsPlanes(_ options: DecodeOptions) -> Bool {
        let scales = 2...3.25
        return scales.contains(region.width / Double(scaledSize.width))
            && scales.contains(region.height / Double(scaledSize.height)) && !options.resampling.usesLinearLight
            && options.pixelFormat != .rgba16
    }
}

extension DecodePlan {
    /// Creates the plan for a file with this header.
    ///
    /// The caller must have checked the size against the decode limits. Rows have 16 bits per channel if `usesDeepRows`
    /// is `true`, or if the pixel format requires it. Throws `overLimit` if the required memory overflows, and
    /// `decoderFault` if the decoder of a ``CustomFormat`` violates its contract.
    init(
        header: ImageHeader, options: DecodeOptions, format descriptor: any FormatDescriptor,
        usesDeepRows: Bool = false
    ) throws(CodecError) {
        let format = options.pixelFormat
        self.usesDeepRows = usesDeepRows || format == .rgba16
        storedSize = header.size
        // Rows from the bottom are turned like those of an image with this orientation; none has another one.
        orientation = header.isBottomUp ? .downMirrored : options.ignoresOrientation ? .up : header.orientation
        let isUndecided = header.hasTrailingOrientation && !options.ignoresOrientation
        let scaling =
            isUndecided
            ? ScalePlan(undecided: storedSize, options: options)
            : ScalePlan(of: header, orientation: orientation, options: options)
        scaledSize = scaling.scaledSize
        visibleSize = scaling.region.size
        let planarBytes = scaling.suitsPlanes(options) ? descriptor.planarWorkingBytes(of: header) : nil
        scalesPlanes = planarBytes != nil
        rowSize =
            scaling.isUnscaled || scalesPlanes
            ? storedSize : try descriptor.rowSize(of: header, for: scaling.wholeSize)
        // Rows that have the result's size are used as they are.
        let rowScale = rowSize == scaledSize ? nil : descriptor.rowScale(of: header, rowSize: rowSize)
        rowRegion =
            header.proportions != nil && rowSize == scaling.wholeSize
            ? PixelRegion(cutting: scaledSize, outOfTheMiddleOf: rowSize)
            : rowScale.map { scaling.region.scaled(by: $0) } ?? scaling.region.scaled(from: storedSize, to: rowSize)

        let sideways = ScalePlan(of: storedSize, orientation: .right, options: options)
        let mayBeSideways = !isUndecided && header.canChangeOrientation && !options.ignoresOrientation
        sidewaysScaling = mayBeSideways && sideways != scaling ? sideways : nil

        let (output, overflow) = scaledSize.area.multipliedReportingOverflow(by: format.bytesPerPixel)
        var terms = [
            planarBytes ?? descriptor.workingBytes(of: header, rowSize: rowSize),
            OrientedCanvas.workingBytes(stored: scaledSize, orientation: orientation, format: format),
            format == .rgba8 ? 0 : scaledSize.width * format.bytesPerPixel,  // a converted row
        ]
        if self.usesDeepRows {
            // Rows of a built-in 16-bit codec are twice as long; with other codecs, one row is expanded.
            if header.bitsPerChannel == 16, !(descriptor is CustomFormatDescriptor) {
                terms.append(descriptor.workingBytes(of: header, rowSize: rowSize))
            }
            terms.append(max(rowSize.width, scaledSize.width) * PixelFormat.rgba16.bytesPerPixel)
        }
        if scalesPlanes {
            terms.append(
                PlanarResampler.workingBytes(
                    from: rowSize, region: rowRegion, to: scaledSize, filter: options.resampling.filter))
        } else if rowSize != scaledSize, !scaling.isUnscaled {
            terms.append(
                BandResampler.workingBytes(
                    from: rowSize, region: rowRegion, to: scaledSize, filter: options.resampling.filter))
        }
        if let sidewaysScaling {
            let size = sidewaysScaling.scaledSize
            let (bytes, overflow) = size.area.multipliedReportingOverflow(by: format.bytesPerPixel)
            terms += [
                overflow ? .max : bytes,
                BandResampler.workingBytes(
                    from: storedSize, region: sidewaysScaling.region, to: size, filter: options.resampling.filter),
            ]
        }
        // Orienting and fitting afterward makes a copy that is no larger.
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

    /// Returns the plan of a decode that holds additional memory, per stored pixel and in total.
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

extension DecodeLimits {
    /// Throws an error if an image with this header is rendered at a size over a limit, of which a part can be cropped.
    func checkRendering(_ header: ImageHeader, _ options: DecodeOptions) throws(CodecError) {
        guard header.proportions != nil else { return }
        let orientation = options.ignoresOrientation ? .up : header.orientation
        try check(ScalePlan(of: header, orientation: orientation, options: options).wholeSize, header.format)
    }
}

extension DecodeOptions {
    /// Returns the size in pixels of the result for an image with this header, turned upright unless the orientation is
    /// ignored or unknown.
    public func outputSize(for header: ImageHeader) -> PixelSize {
        let orientation = ignoresOrientation || header.hasTrailingOrientation ? .up : header.orientation
        return ScalePlan(of: header, orientation: orientation, options: self).scaledSize.upright(orientation)
    }
}
