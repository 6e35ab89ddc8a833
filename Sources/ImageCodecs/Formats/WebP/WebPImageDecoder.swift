import CWebP

/// Decodes one image, an optional `ALPH` and a `VP8 ` or `VP8L` chunk, with libwebp's incremental decoder.
///
/// libwebp writes rows of the whole image, from the top, and never uses them again. If they are large, they are in a
/// ``RowWindow``, and the image is decoded in parts, so that the caller can read and release rows in between.
@safe
final class WebPImageDecoder {
    /// The size of the rows.
    let size: PixelSize
    /// A Boolean value that indicates whether rows are passed by ``passRow(_:to:)``, instead of ``withRow(_:_:)``.
    private let asPlanes: Bool
    /// The size that the image's bitstream must declare.
    private let storedSize: PixelSize
    /// On the heap because libwebp keeps its address.
    private let configuration: UnsafeMutablePointer<WebPDecoderConfig>
    private var decoder: OpaquePointer
    /// The memory of the rows; `nil` if it is libwebp's.
    private var window: RowWindow?
    /// The received chunks, which libwebp reads from the beginning even after they have moved.
    private var chunks: [UInt8] = []
    /// The number of bytes from which the next decoding attempt pays off.
    ///
    /// Grows with the file: a lossless image's tables are parsed again from the beginning until they are complete.
    private var nextAttempt = 0
    /// The number of bytes that libwebp has received.
    private var passedBytes = 0
    /// The number of bytes of all chunks, as far as known.
    private var expectedBytes = 0
    /// The check that chunks must pass before libwebp reads them.
    private var tableCheck: LosslessTableCheck
    private(set) var isComplete = false
    private var hasFailed = false
    /// A Boolean value that indicates whether the bitstream declares the required size, which is known with its first
    /// bytes.
    private var hasItsSize = false
    private var isLossless = false
    /// The number of complete rows, from the top.
    private(set) var rowCount = 0
    private var releasedRows = 0

    /// The size in bytes above which rows are in a window; the heap is faster for smaller images.
    private static let largestWithoutWindow = 8 << 20
    /// The number of bytes of rows that are decoded at once, on average.
    private static let partBytes = 8 << 20
    /// The number of pixels from which a second thread filters and converts rows.
    private static let leastPixelsForThread = 4_000_000

    /// Creates a decoder with rows of the given size, for an image whose tables may take `tableLimit` bytes.
    ///
    /// With `asPlanes`, the rows are those of a lossy image, before they are converted to RGB.
    convenience init(
        storedSize: PixelSize, size: PixelSize, tableLimit: Int, asPlanes: Bool = false
    ) throws(CodecError) {
        try self.init(storedSize: storedSize, size: size, tableLimit: tableLimit, asPlanes: asPlanes) { options in
            options.use_threads = Self.usesThread(for: storedSize) ? 1 : 0
            guard size != storedSize else { return }
            options.use_scaling = 1
            options.scaled_width = Int32(clamping: size.width)
            options.scaled_height = Int32(clamping: size.height)
        }
    }

    /// Creates a decoder that reads the whole bitstream and produces only the pixels of the last corner.
    convenience init(checking storedSize: PixelSize, tableLimit: Int) throws(CodecError) {
        // libwebp requires even coordinates.
        let top = (storedSize.height - 1) & ~1
        let size = PixelSize(width: 1, height: storedSize.height - top)
        try self.init(storedSize: storedSize, size: size, tableLimit: tableLimit, asPlanes: false) { options in
            options.use_cropping = 1
            options.crop_top = Int32(clamping: top)
            options.crop_width = 1
            options.crop_height = Int32(clamping: size.height)
        }
    }

    private init(
        storedSize: PixelSize, size: PixelSize, tableLimit: Int, asPlanes: Bool,
        _ setOptions: (inout WebPDecoderOptions) -> Void
    ) throws(CodecError) {
        (self.size, self.storedSize, self.asPlanes) = (size, storedSize, asPlanes)
        tableCheck = LosslessTableCheck(size: storedSize, limit: tableLimit)
        unsafe configuration = .allocate(capacity: 1)
        unsafe configuration.initialize(to: WebPDecoderConfig())
        let isReady = unsafe WebPInitDecoderConfig(configuration) != 0
        unsafe configuration.pointee.output.colorspace = asPlanes ? MODE_YUV : MODE_RGBA
        unsafe setOptions(&configuration.pointee.options)
        window = unsafe Self.useWindow(for: size, asPlanes: asPlanes, configuration)
        let decoder = isReady ? unsafe WebPIDecode(nil, 0, configuration) : nil
        guard let decoder = unsafe decoder else {
            unsafe configuration.deallocate()
            throw .outOfMemory(.webp)
        }
        unsafe self.decoder = decoder
    }

    deinit {
        unsafe WebPIDelete(decoder)
        unsafe WebPFreeDecBuffer(&configuration.pointee.output)
        unsafe configuration.deallocate()
    }

    /// Returns whether libwebp filters and converts the rows of a lossy image of this size on a second thread.
    static func usesThread(for size: PixelSize) -> Bool { size.area >= leastPixelsForThread }

    /// Makes libwebp write large rows to a window, if there is one.
    private static func useWindow(
        for size: PixelSize, asPlanes: Bool, _ configuration: UnsafeMutablePointer<WebPDecoderConfig>
    ) -> RowWindow? {
        let chromaWidth = PlanarResampler.chromaSize(of: size).width
        let (pixelBytes, overflow) = size.width.multipliedReportingOverflow(by: 4)
        let stride = asPlanes ? size.width + chromaWidth : pixelBytes
        guard !overflow, pixelBytes <= Int32.max, size.height > largestWithoutWindow / max(stride, 1),
            let window = RowWindow(stride: stride, count: asPlanes ? size.height + size.height % 2 : size.height)
        else { return nil }
        unsafe configuration.pointee.output.is_external_memory = 1
        guard asPlanes else {
            unsafe configuration.pointee.output.u.RGBA = unsafe WebPRGBABuffer(
                rgba: window.rows, stride: Int32(stride), size: window.byteCount)
            return window
        }
        // After each row of luma is one of chroma: blue for even rows, red for odd ones.
        let (blue, red) = unsafe (window.rows + size.width, window.rows + stride + size.width)
        unsafe configuration.pointee.output.u.YUVA = unsafe WebPYUVABuffer(
            y: window.rows, u: blue, v: red, a: nil, y_stride: Int32(stride), u_stride: Int32(2 * stride),
            v_stride: Int32(2 * stride), a_stride: 0, y_size: window.byteCount, u_size: window.byteCount - size.width,
            v_size: window.byteCount - stride - size.width, a_size: 0)
        return window
    }

    /// Reserves memory for chunks of this many bytes, so that they are not moved as they grow.
    func reserve(_ count: Int) {
        expectedBytes = count
        chunks.reserveCapacity(count)
    }

    /// Appends the next bytes of the chunks.
    func append(_ bytes: Span<UInt8>) {
        chunks.append(bytes)
    }

    /// Decodes the next part of the received chunks if they have grown enough since the last attempt, or if `isLast`.
    ///
    /// Returns `true` if there are more parts: call this method again once the new rows have been read.
    @discardableResult
    func decode(isLast: Bool) throws(CodecError) -> Bool {
        guard !isComplete, !hasFailed, isLast || chunks.count >= nextAttempt else { return false }
        hasFailed = true
        // libwebp allocates as much as the bitstream declares, regardless of its container.
        if !hasItsSize { try compareSizes() }
        let end = try verifyTables(isLast: isLast) ? endOfPart : chunks.count
        let hasMore = end < chunks.count
        if !hasMore { nextAttempt = chunks.count + max(4 << 10, chunks.count / 16) }
        guard tableCheck.hasPassed else {
            hasFailed = false
            return false
        }
        let status = pass(end)
        countRows()
        switch status {
        case VP8_STATUS_OK: isComplete = true
        case VP8_STATUS_SUSPENDED where hasMore || !isLast: hasFailed = false
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA: throw .corrupt(.webp, "the image data ends too early")
        case VP8_STATUS_OUT_OF_MEMORY: throw .outOfMemory(.webp)
        case VP8_STATUS_UNSUPPORTED_FEATURE: throw .unsupportedFeature(.webp, "an unknown kind of bitstream")
        default: throw .corrupt(.webp, "invalid image data")
        }
        return hasMore && !isComplete
    }

    /// The end of the part to be decoded next, in the chunks.
    private var endOfPart: Int {
        guard let byteCount = window?.byteCount else { return chunks.count }
        // Of a lossless image, libwebp reads the tables again with each part until they are complete, and then a few
        // rows.
        let least = max(64 << 10, passedBytes / 16)
        let average = max(4 << 10, expectedBytes / max(1, byteCount / Self.partBytes))
        return passedBytes + min(isLossless || rowCount == 0 ? least : average, chunks.count - passedBytes)
    }

    /// Passes the chunks up to `end` to libwebp.
    private func pass(_ end: Int) -> VP8StatusCode {
        passedBytes = end
        func update() -> VP8StatusCode {
            unsafe chunks.withUnsafeBufferPointer { bytes in unsafe WebPIUpdate(decoder, bytes.baseAddress, end) }
        }
        let status = update()
        guard status == VP8_STATUS_OUT_OF_MEMORY, rowCount == 0,
            unsafe configuration.pointee.options.use_threads != 0
        else { return status }
        // Perhaps the system has no second thread.
        unsafe configuration.pointee.options.use_threads = 0
        guard let replacement = unsafe WebPIDecode(nil, 0, configuration) else { return status }
        unsafe WebPIDelete(decoder)
        unsafe decoder = replacement
        return update()
    }

    private func compareSizes() throws(CodecError) {
        var features = WebPBitstreamFeatures()
        let status = unsafe chunks.withUnsafeBufferPointer { bytes in
            unsafe WebPGetFeatures(bytes.baseAddress, bytes.count, &features)
        }
        // A bitstream that is too short or invalid uses no memory; decoding reports which it is.
        guard status == VP8_STATUS_OK else { return }
        guard Int(features.width) == storedSize.width, Int(features.height) == storedSize.height else {
            throw .corrupt(.webp, "the size of the image differs from its header")
        }
        hasItsSize = true
        isLossless = features.format == 2
    }

    /// Checks the tables that libwebp would build; returns `false` if more bytes are needed.
    private func verifyTables(isLast: Bool) throws(CodecError) -> Bool {
        guard !tableCheck.hasPassed else { return true }
        let chunks = chunks
        try tableCheck.read(chunks.span)
        guard tableCheck.hasPassed || !isLast else { throw .corrupt(.webp, "the image data ends too early") }
        return tableCheck.hasPassed
    }

    private func countRows() {
        var lastRow: Int32 = 0
        let rows =
            unsafe asPlanes
            ? WebPIDecGetYUVA(decoder, &lastRow, nil, nil, nil, nil, nil, nil, nil, nil)
            : WebPIDecGetRGB(decoder, &lastRow, nil, nil, nil)
        if unsafe rows != nil { rowCount = Int(lastRow) }
    }

    /// Calls `body` with a complete row that has not been released.
    func withRow(_ row: Int, _ body: (Span<UInt8>) -> Void) {
        var stride: Int32 = 0
        guard row >= releasedRows, row < rowCount,
            let pixels = unsafe WebPIDecGetRGB(decoder, nil, nil, nil, &stride)
        else { return }
        unsafe body(Span(_unsafeStart: pixels + row * Int(stride), count: size.width * 4))
    }

    /// Passes a complete row that has not been released to `sink`, after those of chroma if they have not been
    /// passed with the row above.
    func passRow(_ row: Int, to sink: any PlaneSink) {
        var (blue, red): (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?)
        var (stride, chromaStride): (Int32, Int32) = (0, 0)
        guard asPlanes, row >= releasedRows, row < rowCount,
            let luma = unsafe WebPIDecGetYUVA(decoder, nil, &blue, &red, nil, nil, nil, &stride, &chromaStride, nil),
            let blue = unsafe blue, let red = unsafe red
        else { return }
        if row.isMultiple(of: 2) {
            let (offset, count) = (row / 2 * Int(chromaStride), PlanarResampler.chromaSize(of: size).width)
            unsafe sink.append(
                blueRow: Span(_unsafeStart: blue + offset, count: count),
                redRow: Span(_unsafeStart: red + offset, count: count))
        }
        unsafe sink.append(lumaRow: Span(_unsafeStart: luma + row * Int(stride), count: size.width))
    }

    /// Releases the complete rows above row `end`.
    func releaseRows(before end: Int) {
        releasedRows = max(releasedRows, min(end, rowCount))
        window?.discard(before: releasedRows)
    }
}
