/// Decodes a WebP while it arrives; for an animation, the first frame on a transparent canvas.
final class WebPRowDecoder: BuiltInRowDecoder {
    private static let maximumExifBytes = 64 << 10

    private let header: ImageHeader
    private let rowSize: PixelSize
    private var chunks: WebPChunks
    /// The image decoder; `nil` before the image begins and after its last row.
    private var image: WebPImageDecoder?
    private var (left, top) = (0, 0)
    private var imageSize: PixelSize
    /// A Boolean value that indicates whether to ignore the alpha of a lossless image whose header declares that it
    /// uses none.
    private var ignoresAlpha = false
    private var rowsHandedOut = 0
    private var exif: [UInt8] = []
    private(set) var trailingOrientation: ImageOrientation?

    /// Twice the target, but only for opaque images: libwebp would blend in the colors of transparent pixels.
    ///
    /// The pixels of a lossless image can have an alpha that its header does not announce.
    ///
    /// Only for targets of up to a third of the stored size: for larger ones, libwebp's scaling costs more than the
    /// resampler then saves.
    static func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize {
        let stored = header.size
        let (width, height) = (max(target.width, 1), max(target.height, 1))
        guard !header.hasAlpha, header.tableBytes == 0, width <= stored.width / 3, height <= stored.height / 3 else {
            return stored
        }
        return PixelSize(width: width * 2, height: height * 2)
    }

    /// libwebp's output, the pixels and tables of a lossless image or alpha, and the compressed image.
    ///
    /// All of the output is counted, although usually only the rows in use are in memory: a few bytes can contain an
    /// image of one color.
    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        // A side has up to 24 bits. Of a lossy image, libwebp holds a few rows, and more of them with a second thread.
        let pixels =
            header.hasAlpha
            ? (header.size.area + rowSize.area) * 5
            : rowSize.area * 4 + (header.tableBytes > 0 ? header.size.area * 4 : bytesOfRowsInUse(header.size))
        return pixels + header.memoryUsage + header.tableBytes + (256 << 10)
    }

    /// The same, if libwebp's output is the planes of a lossy image.
    static func planarWorkingBytes(of header: ImageHeader) -> Int? {
        guard !header.hasAlpha, header.tableBytes == 0, header.frameCount == 1 else { return nil }
        return header.size.area + 2 * PlanarResampler.chromaSize(of: header.size).area + bytesOfRowsInUse(header.size)
            + header.memoryUsage + (256 << 10)
    }

    /// Returns the size of the rows that libwebp holds while it decodes a lossy image.
    private static func bytesOfRowsInUse(_ size: PixelSize) -> Int {
        size.width * (WebPImageDecoder.usesThread(for: size) ? 288 : 128)
    }

    init(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError) {
        self.header = header
        chunks = WebPChunks(isAnimated: header.mayBeAnimated)
        self.rowSize = rowSize
        imageSize = header.size
    }

    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError) {
        var offset = 0
        while offset < bytes.count, !chunks.isComplete {
            switch try chunks.next(in: bytes, from: &offset) {
            case .frame(let left, let top, let size): try place(left: left, top: top, size: size)
            case .imageHead(let head):
                if image == nil, rowsHandedOut == 0 {
                    guard rows.planes == nil || imageSize == rowSize else {
                        throw .corrupt(.webp, "the size of the image differs from its header")
                    }
                    image = try WebPImageDecoder(
                        storedSize: imageSize, size: imageSize == header.size ? rowSize : imageSize,
                        tableLimit: header.tableBytes, asPlanes: rows.planes != nil)
                    image?.reserve(header.memoryUsage)
                }
                ignoresAlpha = !header.hasAlpha && head.span.has("VP8L", at: 0)
                image?.append(head.span)
            case .image(let range): image?.append(bytes.extracting(range))
            case .exif(let range) where header.hasTrailingOrientation:
                exif.append(bytes.extracting(range).extracting(first: Self.maximumExifBytes - exif.count))
            case .exif, .skipped: break
            }
            if chunks.hasImage { try decode(to: rows, isLast: true) }
        }
        try decode(to: rows, isLast: false)
    }

    func finish(to rows: any RowSink) throws(CodecError) {
        // The bytes received since the last attempt can be all that pixels depend on.
        if !chunks.isComplete, let image { try? decode(image, to: rows, isLast: true) }
        // All frames of an animation are needed.
        guard chunks.isComplete || !header.mayBeAnimated && rowsHandedOut == rowSize.height else {
            throw .truncated(.webp)
        }
        guard rowsHandedOut == rowSize.height else { throw .corrupt(.webp, "no image") }
        if !exif.isEmpty { trailingOrientation = ImageOrientation(exif: exif.span) }
    }

    func salvage(to rows: any RowSink) {
        guard let image else { return }
        // The bytes received since the last attempt.
        try? decode(image, to: rows, isLast: true)
        deliver(image, to: rows)
    }

    var warnings: Set<ImageWarning> { chunks.isComplete ? [] : [.missingEnd] }

    var frameCount: Int? { header.frameCount ?? chunks.frameCount }

    private func place(left: Int, top: Int, size: PixelSize) throws(CodecError) {
        guard image == nil, !chunks.hasImage else { throw .corrupt(.webp, "a frame after the image") }
        guard size == header.size || rowSize == header.size, left + size.width <= header.size.width,
            top + size.height <= header.size.height
        else {
            throw .corrupt(.webp, "a frame that leaves the canvas")
        }
        (self.left, self.top) = (left, top)
        imageSize = size
    }

    /// Passes on complete rows, and releases the image after its last row.
    private func decode(to rows: any RowSink, isLast: Bool) throws(CodecError) {
        guard let image else { return }
        try decode(image, to: rows, isLast: isLast)
        if image.isComplete { self.image = nil }
    }

    private func decode(_ image: WebPImageDecoder, to rows: any RowSink, isLast: Bool) throws(CodecError) {
        var hasMore = true
        while hasMore {
            hasMore = try image.decode(isLast: isLast)
            deliver(image, to: rows)
        }
    }

    private func deliver(_ image: WebPImageDecoder, to rows: any RowSink) {
        defer { image.releaseRows(before: rowsHandedOut - (image.size == rowSize ? 0 : top)) }
        if let planes = rows.planes {
            for row in rowsHandedOut..<max(rowsHandedOut, image.rowCount) { image.passRow(row, to: planes) }
            rowsHandedOut = max(rowsHandedOut, image.rowCount)
        } else if image.size == rowSize {
            for row in rowsHandedOut..<max(rowsHandedOut, image.rowCount) {
                image.withRow(row) { pixels in deliver(pixels, to: rows) }
            }
            rowsHandedOut = max(rowsHandedOut, image.rowCount)
        } else {
            composite(image, to: rows)
        }
    }

    private func deliver(_ pixels: Span<UInt8>, to rows: any RowSink) {
        guard ignoresAlpha else { return rows.append(row: pixels) }
        var row = Array(copying: pixels)
        for alpha in stride(from: 3, to: row.count, by: 4) { row[alpha] = 255 }
        rows.append(row: row.span)
    }

    /// Passes on the rows of a frame smaller than the canvas.
    private func composite(_ image: WebPImageDecoder, to rows: any RowSink) {
        // Rows above the frame alone are not an image.
        guard image.rowCount > 0 else { return }
        let end = image.isComplete ? rowSize.height : top + image.rowCount
        while rowsHandedOut < end {
            var row = [UInt8](repeating: 0, count: rowSize.width * 4)
            image.withRow(rowsHandedOut - top) { pixels in
                for index in pixels.indices { row[left * 4 + index] = pixels[index] }
            }
            rows.append(row: row.span)
            rowsHandedOut += 1
        }
    }
}
