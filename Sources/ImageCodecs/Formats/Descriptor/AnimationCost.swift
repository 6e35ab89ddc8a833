/// What the frames of an animation take to be decoded, as far as they are known.
struct AnimationCost: Sendable {
    /// A page of memory, the largest kind that systems hand out unasked.
    static let pageBytes = 2 << 20

    /// Columns and rows that no frame exceeds, as far as it is on the canvas.
    private(set) var largest = PixelSize(width: 0, height: 0)
    private(set) var largestData = 0
    /// The maximum number of pixels that have to be kept to bring them back.
    private(set) var mostSaved = 0
    /// Bytes of the canvas that frames are painted on, counted for each frame, and the rows that they lie in.
    private(set) var paintedBytes = 0
    private(set) var paintedRows: Range<Int>?

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
}
