// Previews of the image while it arrives.
extension StreamingDecoder {
    /// A number that increases whenever ``preview(maximumSide:)`` would show more than before; 0 while there is
    /// nothing to show.
    public var previewVersion: Int {
        guard failure == nil, let running else { return 0 }
        return (running.decoder.previewScan ?? 0) + running.pipeline.completeRows
    }

    /// The scan or pass of a progressive image that ``preview(maximumSide:)`` would show, counted from 1; `nil` while
    /// there is none, and for other images.
    public var previewScan: Int? { failure == nil ? running?.decoder.previewScan : nil }

    /// Returns the image as far as it has been received, or `nil` while there is nothing to show.
    ///
    /// For files whose rows arrive once, this is a copy of them. For progressive files, the latest complete scan is
    /// rendered and kept until there is a newer one. If a side of the image exceeds `maximumSide` pixels, the preview
    /// is smaller: a progressive JPEG is rendered at 1/2, 1/4, or 1/8, which takes a fraction of the time; others are
    /// scaled down to that side.
    public func preview(maximumSide: Int = .max) throws(CodecError) -> PreviewPixels? {
        try remembering { () throws(CodecError) in
            guard let running else { return nil }
            let scan = running.decoder.previewScan
            let plan = PreviewPlan(of: running.plan, maximumSide: maximumSide) {
                running.decoder.previewRowSize(maximumSide: $0)
            }
            // In the last pass of an interlaced image, rows become final while coarser ones below are already
            // available.
            if running.pipeline.completeRows > 0, scan == nil || running.pipeline.isComplete {
                return copy(of: running.pipeline, scan: scan, as: plan)
            }
            guard let scan else { return nil }
            let version = previewVersion
            if let (cachedPlan, cachedVersion, preview) = cachedPreview, cachedPlan == plan, cachedVersion == version {
                return preview
            }
            // Its memory can serve the next one, if no consumer has it.
            cachedPreview = nil
            let pipeline = try renderPreview(plan, of: running)
            let preview = PreviewPixels(pixels: pipeline.pixels, completeRows: pipeline.completeRows, scan: scan)
            pixelMemory?.keep(preview.pixels.bytes)
            cachedPreview = (plan, version, preview)
            return preview
        }
    }

    /// Renders the latest complete scan.
    ///
    /// A smaller preview of scans with little detail, such as the first one of a progressive JPEG, is rendered at the
    /// size of that detail and usually enlarged: larger rows would take longer and show blocks.
    private func renderPreview(_ plan: PreviewPlan, of running: Running) throws(CodecError) -> RowPipeline {
        var (plan, resampling) = (plan, options.resampling)
        if let detail = running.decoder.previewDetail(of: plan.rowRegion, in: plan.rowSize) {
            (plan.rowSize, plan.rowRegion) = detail
            if detail.region.width < Double(plan.scaledSize.width) { resampling.filter = .triangle }
        }
        let pipeline = RowPipeline(
            rowSize: plan.rowSize, region: plan.rowRegion, scaledSize: plan.scaledSize, resampling: resampling,
            orientation: running.plan.orientation, hasAlpha: running.header.hasAlpha, colors: running.transform,
            format: options.pixelFormat, memory: pixelMemory)
        try running.decoder.renderPreview(size: plan.rowSize, to: pipeline)
        return pipeline
    }

    /// Returns the received part of an image whose rows arrive once.
    private func copy(of pipeline: RowPipeline, scan: Int?, as plan: PreviewPlan) -> PreviewPixels {
        let pixels = pipeline.pixels
        guard let size = running?.plan.scaledSize, size != plan.scaledSize, let orientation = running?.plan.orientation
        else { return PreviewPixels(pixels: pixels, completeRows: pipeline.completeRows, scan: scan) }
        // Missing pixels are transparent, even in an opaque image.
        return PreviewPixels(
            pixels: pixels.turned(
                .up, scaledTo: plan.scaledSize.upright(orientation), resampling: Resampling(filter: .box),
                hasAlpha: true),
            completeRows: pipeline.completeRows * plan.scaledSize.height / size.height, scan: scan)
    }
}
