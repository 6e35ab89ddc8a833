/// The cost of decoding the frames of an animation that are known so far.
struct AnimationCost: Sendable {
    /// The size of a memory page: the largest kind that systems use by default, in bytes.
    static let pageBytes = 2 << 20

    /// The maximum width and height of the visible part of all frames, in pixels.
    private(set) var largest = PixelSize(width: 0, height: 0)
    private(set) var largestData = 0
    /// The maximum number of bytes of tables for the lossless data of a frame.
    private(set) var mostTableBytes = 0
    /// The maximum number of pixels that must be saved to restore them.
    private(set) var maximumSavedPixels = 0
    /// The total size of the canvas areas that frames are painted on, counted for each frame, and the rows that
    /// contain them.
    private(set) var paintedBytes = 0
    private(set) var paintedRows: Range<Int>?

    /// Adds a frame on a canvas of `size`, whose byte count does not overflow.
    mutating func add(_ frame: StoredFrame, _ size: PixelSize) {
        let place = frame.place(on: size)
        guard place.size.area > 0 else { return }
        largest.width = max(largest.width, place.size.width)
        largest.height = max(largest.height, place.size.height)
        largestData = max(largestData, frame.data.count)
        mostTableBytes = max(mostTableBytes, frame.tableBytes)
        if frame.disposal == .previous { maximumSavedPixels = max(maximumSavedPixels, place.size.area) }
        paintedBytes = min(size.area * 4, paintedBytes + place.size.height * size.width * 4 + 2 * Self.pageBytes)
        paintedRows =
            paintedRows.map {
                min($0.lowerBound, place.top)..<max($0.upperBound, place.top + place.size.height)
            } ?? place.rows
    }
}
