extension AnimationCost {
    /// The maximum number of bytes of memory it takes to make one frame: the canvas as far as it is painted, what is
    /// saved of it, the decoder and its copies of the compressed frame, and the result.
    ///
    /// `plan` has been made for the largest frame there could be, and says what that would take.
    func estimatedBytes(
        _ header: ImageHeader, _ format: any FormatDescriptor, _ plan: DecodePlan, _ options: DecodeOptions,
        colorBytes: Int
    ) -> Int {
        let canvas = plan.storedSize
        let painted = min(paintedBytes, (paintedRows?.count ?? 0) * canvas.width * 4 + 2 * Self.pageBytes)
        var sum = plan.scaledSize.area * options.pixelFormat.bytesPerPixel
        // Where the canvas is the frame it is the result.
        if !plan.showsCanvas(options) { sum += min(painted, canvas.area * 4) }
        sum += mostSaved * 4 + largestData * 2 + colorBytes
        var frame = header
        frame.size = largest
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
    /// Returns whether the canvas of an animation is what its frames are, neither scaled nor turned nor stored otherwise.
    func showsCanvas(_ options: DecodeOptions) -> Bool {
        scaledSize == storedSize && orientation == .up && options.pixelFormat == .rgba8
    }
}
