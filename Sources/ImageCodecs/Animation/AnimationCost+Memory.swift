extension AnimationCost {
    /// Returns the maximum memory needed to compose one frame, in bytes: the painted part of the canvas, its saved
    /// pixels, the decoder with its copies of the compressed frame, and the result.
    ///
    /// `plan` describes the largest possible frame and the cost of decoding it.
    func estimatedBytes(
        _ header: ImageHeader, _ format: any FormatDescriptor, _ plan: DecodePlan, _ options: DecodeOptions,
        colorBytes: Int
    ) -> Int {
        let canvas = plan.storedSize
        let painted = min(paintedBytes, (paintedRows?.count ?? 0) * canvas.width * 4 + 2 * Self.pageBytes)
        var sum = plan.scaledSize.area * options.pixelFormat.bytesPerPixel
        // If the canvas is the frame, it is also the result.
        if !plan.showsCanvas(options) { sum += min(painted, canvas.area * 4) }
        sum += maximumSavedPixels * 4 + largestData * 2 + colorBytes
        var frame = header
        frame.size = largest
        frame.tableBytes = mostTableBytes
        sum += format.workingBytes(of: frame, rowSize: largest)
        if plan.scaledSize != canvas {
            let filter = options.resampling.filter
            sum +=
                2
                * BandResampler.workingBytes(
                    from: canvas, region: plan.rowRegion, to: plan.scaledSize, filter: filter)
        }
        let pixelFormat = options.pixelFormat
        sum += OrientedCanvas.workingBytes(
            stored: plan.scaledSize, orientation: plan.orientation, format: pixelFormat)
        return sum + (canvas.width + plan.scaledSize.width) * pixelFormat.bytesPerPixel
    }
}

extension DecodePlan {
    /// Returns whether the frames are the canvas itself: not scaled, oriented, or converted.
    func showsCanvas(_ options: DecodeOptions) -> Bool {
        scaledSize == storedSize && orientation == .up && options.pixelFormat == .rgba8
    }
}
