/// A row sink that writes the rows of a stored image directly into the upright one, so that only one copy exists.
final class OrientedCanvas: RowSink {
    /// The upright image, empty before the first row.
    ///
    /// If rows are received from the top, only those, until ``pixels`` requires the others: clearing the memory of all
    /// rows first would take nearly as long as writing them.
    private var image: PixelBuffer
    /// The request for the pages of rows that are appended.
    private var pages = PageSupply()
    /// The number of rows written.
    ///
    /// Rows that become columns are written in strips, so this can lag behind.
    private(set) var completeRows = 0

    private let memory: (any PixelMemory)?
    private let stored: PixelSize
    /// The part of the stored image whose rows are received.
    private let part: PixelRectangle
    private let orientation: ImageOrientation
    /// The rows that will become columns.
    ///
    /// Writing single columns would touch a cache line for every pixel.
    private var strip: [UInt8] = []
    private static let stripHeight = 16

    /// Creates a canvas for a stored image of `size`, which the caller has checked against its limits.
    ///
    /// Its rows are received in stored order, in `format`. The memory of the image comes from `memory`, if given.
    init(
        stored size: PixelSize, orientation: ImageOrientation, format: PixelFormat = .rgba8,
        memory: (any PixelMemory)? = nil
    ) {
        self.memory = memory
        stored = size
        part = PixelRectangle(whole: size)
        self.orientation = orientation
        image = PixelBuffer(withoutRows: size.upright(orientation), format: format)
        reserveStrip()
    }

    /// Creates a canvas for the rows of `part` of a stored image of `size`, whose upright `pixels` exist already.
    init(
        changing pixels: consuming PixelBuffer, stored size: PixelSize, part: PixelRectangle,
        orientation: ImageOrientation
    ) {
        memory = nil
        stored = size
        self.part = part
        self.orientation = orientation
        image = pixels
        reserveStrip()
    }

    private func reserveStrip() {
        if orientation.swapsAxes { strip.reserveCapacity(rowBytes * min(part.size.height, Self.stripHeight)) }
    }

    /// Returns the maximum memory that the canvas holds in addition to the image, in bytes.
    static func workingBytes(stored size: PixelSize, orientation: ImageOrientation, format: PixelFormat) -> Int {
        orientation.swapsAxes ? size.width * format.bytesPerPixel * stripHeight : 0
    }

    /// The upright image; rows not yet received are transparent black.
    var pixels: PixelBuffer {
        image.clearMissingRows()
        return image
    }

    /// The number of bytes in a stored row.
    private var rowBytes: Int { part.size.width * image.format.bytesPerPixel }

    func append(row: Span<UInt8>) {
        precondition(row.count == rowBytes)
        guard completeRows < part.size.height else { return }
        if image.bytes.isEmpty { allocate() }
        guard image.bytes.count > completeRows * rowBytes else {
            pages.prepare(image.bytes, toAppend: row.count)
            image.bytes.append(row)
            completeRows += 1
            return
        }
        unsafe row.withUnsafeBytes { row in
            guard orientation.swapsAxes else {
                unsafe write(row, rowCount: 1)
                return
            }
            unsafe strip.append(contentsOf: row)
            let rowCount = strip.count / row.count
            guard rowCount == Self.stripHeight || completeRows + rowCount == part.size.height else { return }
            unsafe strip.withUnsafeBytes { unsafe write($0, rowCount: rowCount) }
            strip.removeAll(keepingCapacity: true)
        }
    }

    private func allocate() {
        image.reserveRows(from: memory)
        if orientation != .up { image.clearMissingRows() }
    }

    /// Writes the rows of the last strip; none follow.
    func flush() {
        let rowCount = strip.count / max(rowBytes, 1)
        guard rowCount > 0 else { return }
        unsafe strip.withUnsafeBytes { unsafe write($0, rowCount: rowCount) }
        strip = []
    }

    /// Writes the next `rowCount` stored rows from `source`; the image has room for them.
    private func write(_ source: UnsafeRawBufferPointer, rowCount: Int) {
        // The index in the upright image of the first pixel, and the steps to its neighbors.
        func index(_ x: Int, _ y: Int) -> Int {
            let place = orientation.place(x: part.left + x, y: part.top + y, in: stored)
            return place.y * image.width + place.x
        }
        let start = index(0, completeRows)
        let columnStep = index(1, completeRows) - start
        let rowStep = index(0, completeRows + 1) - start
        let width = part.size.width
        let pixelBytes = image.format.bytesPerPixel
        unsafe image.bytes.withUnsafeMutableBytes { target in
            // `place` maps the stored rectangle onto the upright one, so no step leaves it (verified by a test for
            // every pixel).
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
