/// What the frames of an animation take to be decoded, as far as they are known.
struct AnimationCost: Sendable {
    /// A page of memory, the largest kind that systems hand out unasked.
    private static let pageBytes = 2 << 20

    /// Columns and rows that no frame exceeds, as far as it is on the canvas.
    private var largest = PixelSize(width: 0, height: 0)
    private var largestData = 0
    /// The most pixels that have to be kept to bring them back.
    private var mostSaved = 0
    /// Bytes of the canvas that frames are painted on, counted for each frame, and the rows that they lie in.
    private var paintedBytes = 0
    private var paintedRows: Range<Int>?

    /// Adds a frame on a canvas of `size`, whose bytes can be counted.
    mutating func add(_ frame: StoredFrame, _ size: PixelSize) {
        let place = frame.place(on: size)
        guard place.size.area > 0 else { return }
        largest.width = max(largest.width, place.size.width)
        largest.height = max(largest.height, place.size.height)
        largestData = max(largestData, frame.data.count)
        if frame.disposal == .previous { mostSaved = max(mostSaved, place.size.area) }
        paintedBytes = min(size.area * 4, paintedBytes + place.size.height * size.width * 4 + 2 * Self.pageBytes)
        paintedRows =
            paintedRows.map {
                min($0.lowerBound, place.top)..<max($0.upperBound, place.top + place.size.height)
            } ?? place.rows
    }

    /// The most bytes of memory it takes to make one frame: the canvas as far as it is painted, what is saved of it, the
    /// decoder and its copies of the compressed frame, and the result.
    ///
    /// `plan` has been made for the largest frame there could be, and says what that would take.
    func estimatedBytes(
        _ header: ImageHeader, _ plan: DecodePlan, _ options: DecodeOptions, colorBytes: Int
    ) -> Int {
        let canvas = plan.storedSize
        let painted = min(paintedBytes, (paintedRows?.count ?? 0) * canvas.width * 4 + 2 * Self.pageBytes)
        var sum = plan.scaledSize.area * options.pixelFormat.bytesPerPixel
        // Where the canvas is the frame it is the result.
        if !plan.showsCanvas(options) { sum += min(painted, canvas.area * 4) }
        sum += mostSaved * 4 + largestData * 2 + colorBytes
        if let format = header.format.builtIn {
            var frame = header
            frame.size = largest
            sum += format.rowDecoder.workingBytes(of: frame, rowSize: largest)
        }
        if plan.scaledSize != canvas {
            let filter = options.resampling.filter
            sum +=
                2
                * BandResampler.workingBytes(
                    from: canvas, region: plan.rowRegion, to: plan.scaledSize, filter: filter)
        }
        let format = options.pixelFormat
        sum += OrientedCanvas.workingBytes(stored: plan.scaledSize, orientation: plan.orientation, format: format)
        return sum + (canvas.width + plan.scaledSize.width) * format.bytesPerPixel
    }
}

extension DecodePlan {
    /// Whether the canvas of an animation is what its frames are, neither scaled nor turned nor stored otherwise.
    func showsCanvas(_ options: DecodeOptions) -> Bool {
        scaledSize == storedSize && orientation == .up && options.pixelFormat == .rgba8
    }
}
