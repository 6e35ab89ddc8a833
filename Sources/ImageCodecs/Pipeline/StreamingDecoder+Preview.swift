// The image while it arrives.
extension StreamingDecoder {
    /// Grows whenever ``preview(maximumSide:)`` would show more than before; 0 while there is nothing to show.
    public var previewVersion: Int {
        guard failure == nil, let running else { return 0 }
        return (running.decoder.previewScan ?? 0) + running.pipeline.completeRows
    }

    /// Which scan or pass of a progressive image ``preview(maximumSide:)`` would show, from 1; nil of others, and
    /// while there is none.
    public var previewScan: Int? { failure == nil ? running?.decoder.previewScan : nil }

    /// The image as far as it has come, or nil while there is nothing to show.
    ///
    /// For files whose rows come once this is a copy of them. For progressive ones the latest complete scan is rendered
    /// whole, and kept until there is a newer one. An image with a side over `maximumSide` is shown smaller: a progressive
    /// JPEG at 1/2, 1/4 or 1/8, which takes a fraction of the time; others are scaled down to that side.
    public func preview(maximumSide: Int = .max) throws(CodecError) -> ImagePreview? {
        try remembering { () throws(CodecError) in
            guard let running else { return nil }
            let scan = running.decoder.previewScan
            let plan = PreviewPlan(of: running.plan, maximumSide: maximumSide) {
                running.decoder.previewRowSize(maximumSide: $0)
            }
            // In the last pass of an interlaced image rows become final, while those below have come already, more coarsely.
            if running.pipeline.completeRows > 0, scan == nil || running.pipeline.isComplete {
                return copy(of: running.pipeline, scan: scan, as: plan)
            }
            guard let scan else { return nil }
            let version = previewVersion
            if let (cachedPlan, cachedVersion, preview) = cachedPreview, cachedPlan == plan, cachedVersion == version {
                return preview
            }
            let pipeline = RowPipeline(
                rowSize: plan.rowSize, region: plan.rowRegion, scaledSize: plan.scaledSize,
                resampling: options.resampling, orientation: running.plan.orientation,
                hasAlpha: running.header.hasAlpha, colors: running.transform, format: options.pixelFormat)
            try running.decoder.renderPreview(size: plan.rowSize, to: pipeline)
            let preview = ImagePreview(pixels: pipeline.pixels, completeRows: pipeline.completeRows, scan: scan)
            cachedPreview = (plan, version, preview)
            return preview
        }
    }

    /// What has come of an image whose rows come once.
    private func copy(of pipeline: RowPipeline, scan: Int?, as plan: PreviewPlan) -> ImagePreview {
        let pixels = pipeline.pixels
        guard let size = running?.plan.scaledSize, size != plan.scaledSize, let orientation = running?.plan.orientation
        else { return ImagePreview(pixels: pixels, completeRows: pipeline.completeRows, scan: scan) }
        // What has not come is transparent, whatever the image itself may be.
        return ImagePreview(
            pixels: pixels.turned(
                .up, scaledTo: plan.scaledSize.upright(orientation), resampling: Resampling(filter: .box),
                hasAlpha: true),
            completeRows: pipeline.completeRows * plan.scaledSize.height / size.height, scan: scan)
    }
}
