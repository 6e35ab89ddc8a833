/// Writes the rows of a stored image into their place in the upright one, so that it never exists twice.
final class OrientedCanvas: RowSink {
    /// The upright image; rows that have not come are transparent black.
    private(set) var pixels: PixelBuffer
    /// How many rows are there.
    ///
    /// Rows that become columns are written by the strip, so this may lag behind.
    private(set) var completeRows = 0

    private let stored: PixelSize
    private let orientation: ImageOrientation
    /// Rows that will become columns.
    ///
    /// One column alone would touch a line of cache for every pixel.
    private var strip: [UInt8] = []
    private static let stripHeight = 16

    /// For a stored image of `size`, which the caller has checked against its limits.
    ///
    /// Its rows come as the image stores them, in `format`.
    init(stored size: PixelSize, orientation: ImageOrientation, format: PixelFormat = .rgba8) {
        stored = size
        self.orientation = orientation
        pixels = PixelBuffer(transparent: size.upright(orientation), format: format)
        if orientation.swapsAxes { strip.reserveCapacity(rowBytes * min(size.height, Self.stripHeight)) }
    }

    /// The most bytes it holds besides the image.
    static func workingBytes(stored size: PixelSize, orientation: ImageOrientation, format: PixelFormat) -> Int {
        orientation.swapsAxes ? size.width * format.bytesPerPixel * stripHeight : 0
    }

    /// The bytes of a stored row.
    private var rowBytes: Int { stored.width * pixels.format.bytesPerPixel }

    func append(row: Span<UInt8>) {
        precondition(row.count == rowBytes)
        guard completeRows < stored.height else { return }
        unsafe row.withUnsafeBytes { row in
            guard orientation.swapsAxes else {
                unsafe write(row, rowCount: 1)
                return
            }
            unsafe strip.append(contentsOf: row)
            let rowCount = strip.count / row.count
            guard rowCount == Self.stripHeight || completeRows + rowCount == stored.height else { return }
            unsafe strip.withUnsafeBytes { unsafe write($0, rowCount: rowCount) }
            strip.removeAll(keepingCapacity: true)
        }
    }

    /// Writes rows that wait for others; none follow.
    func flush() {
        let rowCount = strip.count / max(rowBytes, 1)
        guard rowCount > 0 else { return }
        unsafe strip.withUnsafeBytes { unsafe write($0, rowCount: rowCount) }
        strip = []
    }

    /// Writes the next `rowCount` stored rows, which `source` holds and the image has room for.
    private func write(_ source: UnsafeRawBufferPointer, rowCount: Int) {
        // In pixels of the upright image: where the first goes, and the way from there to its neighbours.
        func index(_ x: Int, _ y: Int) -> Int {
            let place = orientation.place(x: x, y: y, in: stored)
            return place.y * pixels.width + place.x
        }
        let start = index(0, completeRows)
        let columnStep = index(1, completeRows) - start
        let rowStep = index(0, completeRows + 1) - start
        let width = stored.width
        let pixelBytes = pixels.format.bytesPerPixel
        unsafe pixels.bytes.withUnsafeMutableBytes { target in
            // `place` maps the stored rectangle onto the upright one, so no step leaves it (a test tries every pixel).
            if rowCount == 1, columnStep == 1 {
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[(start * pixelBytes)...]).copyMemory(from: source)
                return
            }
            func place<Pixel: BitwiseCopyable>(_: Pixel.Type) {
                for x in 0..<width {
                    for y in 0..<rowCount {
                        let from = (y * width + x) * pixelBytes
                        let to = (start + x * columnStep + y * rowStep) * pixelBytes
                        let pixel = unsafe source.loadUnaligned(fromByteOffset: from, as: Pixel.self)
                        unsafe target.storeBytes(of: pixel, toByteOffset: to, as: Pixel.self)
                    }
                }
            }
            switch pixelBytes {
            case 1: place(UInt8.self)
            case 8: place(UInt64.self)
            default: place(UInt32.self)
            }
        }
        completeRows += rowCount
    }
}
