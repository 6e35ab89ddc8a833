/// The processing of a decoder's rows: cropping, scaling, conversion to sRGB and to the requested pixel format, and
/// orientation.
final class RowPipeline: RowSink {
    private let canvas: OrientedCanvas
    /// The first step for rows of pixels; `nil` if ``planes`` must be used.
    private let first: (any RowSink)?
    private let rowCount: Int

    let acceptsCMYK: Bool
    let accepts16BitRows: Bool
    let planes: (any PlaneSink)?

    /// Creates a pipeline from rows of `rowSize`, or their part `region`, to an image of `scaledSize` in `format`,
    /// turned by `orientation`.
    ///
    /// The transform `colors` is applied after scaling, where there are fewer pixels, unless scaling requires sRGB
    /// for linear light, or does not support CMYK. Until then, rows have 16 bits per channel if the transform takes them.
    /// The memory of the image comes from `memory`, if given. With `scalesPlanes`, rows must be passed to ``planes``.
    init(
        rowSize: PixelSize, region: PixelRegion? = nil, scaledSize: PixelSize, resampling: Resampling = Resampling(),
        orientation: ImageOrientation, hasAlpha: Bool, colors: ColorTransform? = nil, format: PixelFormat = .rgba8,
        memory: (any PixelMemory)? = nil, scalesPlanes: Bool = false
    ) {
        let region = region ?? PixelRegion(whole: rowSize)
        canvas = OrientedCanvas(stored: scaledSize, orientation: orientation, format: format, memory: memory)
        acceptsCMYK = colors?.acceptsCMYK == true
        let convertsFirst = acceptsCMYK || resampling.usesLinearLight
        let is16Bit = format == .rgba16 || colors?.is16Bit == true
        accepts16BitRows = is16Bit && !acceptsCMYK

        var next: any RowSink = canvas
        if format != .rgba8, format != .rgba16 {
            next = RowConverter(to: format, width: scaledSize.width, sink: next)
        }
        if is16Bit, format != .rgba16 { next = RowRounder(width: scaledSize.width, sink: next) }
        if let colors, !convertsFirst { next = ColorConverter(colors, width: scaledSize.width, sink: next) }
        rowCount = scaledSize.height
        guard !scalesPlanes else {
            planes = PlanarResampler(
                from: rowSize, region: region, to: scaledSize, filter: resampling.filter, sink: next)
            first = nil
            return
        }
        planes = nil
        if rowSize != scaledSize {
            next =
                region.isCut(to: scaledSize)
                ? RowCutter(region, scaledSize, bytesPerPixel: is16Bit ? 8 : 4, sink: next)
                : BandResampler(
                    from: rowSize, region: region, to: scaledSize, resampling: resampling, hasAlpha: hasAlpha,
                    is16Bit: is16Bit, sink: next)
        }
        if is16Bit, acceptsCMYK { next = RowConverter(to: .rgba16, width: rowSize.width, sink: next) }
        if let colors, convertsFirst { next = ColorConverter(colors, width: rowSize.width, sink: next) }
        if is16Bit, !acceptsCMYK { next = RowConverter(to: .rgba16, width: rowSize.width, sink: next) }
        first = next
    }

    /// The image so far.
    var pixels: PixelBuffer { canvas.pixels }
    /// The number of its stored rows that are complete.
    var completeRows: Int { canvas.completeRows }
    /// A Boolean value that indicates whether all rows are complete.
    var isComplete: Bool { completeRows == rowCount }

    /// Writes the rows of the last strip; none follow.
    func flush() { canvas.flush() }

    func append(row: Span<UInt8>) {
        first?.append(row: row)
    }
}
