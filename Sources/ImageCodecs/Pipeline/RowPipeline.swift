/// The processing of a decoder's rows: cropping, scaling, conversion to sRGB and to the requested pixel format, and
/// orientation.
final class RowPipeline: RowSink {
    private let canvas: OrientedCanvas
    private let first: any RowSink
    private let rowCount: Int

    let takesInks: Bool
    let takesDeepRows: Bool

    /// Creates a pipeline from rows of `rowSize`, or their part `region`, to an image of `scaledSize` in `format`,
    /// turned by `orientation`.
    ///
    /// The transform `colors` is applied after scaling, where there are fewer pixels, unless scaling requires sRGB
    /// for linear light, or does not support CMYK.
    init(
        rowSize: PixelSize, region: PixelRegion? = nil, scaledSize: PixelSize, resampling: Resampling = Resampling(),
        orientation: ImageOrientation, hasAlpha: Bool, colors: ColorTransform? = nil, format: PixelFormat = .rgba8
    ) {
        let region = region ?? PixelRegion(whole: rowSize)
        canvas = OrientedCanvas(stored: scaledSize, orientation: orientation, format: format)
        takesInks = colors?.takesInks == true
        let convertsFirst = takesInks || resampling.usesLinearLight
        let isDeep = format == .rgba16
        takesDeepRows = isDeep && !takesInks

        var next: any RowSink = canvas
        if format != .rgba8, !isDeep { next = RowConverter(to: format, width: scaledSize.width, sink: next) }
        if let colors, !convertsFirst { next = ColorConverter(colors, width: scaledSize.width, sink: next) }
        if rowSize != scaledSize {
            next =
                region.isCut(to: scaledSize)
                ? RowCutter(region, scaledSize, bytesPerPixel: isDeep ? 8 : 4, sink: next)
                : BandResampler(
                    from: rowSize, region: region, to: scaledSize, resampling: resampling, hasAlpha: hasAlpha,
                    isDeep: isDeep, sink: next)
        }
        if isDeep, takesInks { next = RowConverter(to: format, width: rowSize.width, sink: next) }
        if let colors, convertsFirst { next = ColorConverter(colors, width: rowSize.width, sink: next) }
        if isDeep, !takesInks { next = RowConverter(to: format, width: rowSize.width, sink: next) }
        first = next
        rowCount = scaledSize.height
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
        first.append(row: row)
    }
}
