/// Writes the rows of a stored image into their place in the upright one, so that it never exists twice.
final class OrientedCanvas: RowSink {
    /// The upright image; rows that have not come are transparent black.
    private(set) var pixels: PixelBuffer
    /// How many rows have come.
    private(set) var completeRows = 0

    private let stored: PixelSize
    private let orientation: ImageOrientation

    /// For a stored image of `size`, which the caller has checked against its limits.
    init(stored size: PixelSize, orientation: ImageOrientation) {
        stored = size
        self.orientation = orientation
        pixels = PixelBuffer(transparent: size.upright(orientation))
    }

    func append(row: Span<UInt8>) {
        precondition(row.count == stored.width * 4)
        guard completeRows < stored.height else { return }
        // The path of the stored row through the upright image, in pixels: where it starts, and the step along it.
        let y = completeRows
        let width = pixels.width
        let first = orientation.place(x: 0, y: y, in: stored)
        let second = orientation.place(x: 1, y: y, in: stored)
        let start = first.y * width + first.x
        let step = (second.y - first.y) * width + second.x - first.x
        unsafe row.withUnsafeBytes { source in
            unsafe pixels.bytes.withUnsafeMutableBytes { target in
                // `place` maps the stored rectangle onto the upright one, so no step leaves it (a test tries every pixel).
                if step == 1 {
                    unsafe UnsafeMutableRawBufferPointer(rebasing: target[(start * 4)...]).copyMemory(from: source)
                    return
                }
                for x in 0..<stored.width {
                    let pixel = unsafe source.loadUnaligned(fromByteOffset: x * 4, as: UInt32.self)
                    unsafe target.storeBytes(of: pixel, toByteOffset: (start + x * step) * 4, as: UInt32.self)
                }
            }
        }
        completeRows += 1
    }
}
