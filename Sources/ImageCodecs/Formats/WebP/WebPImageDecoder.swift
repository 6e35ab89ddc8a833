import CWebP

/// Decodes one image, an optional `ALPH` and a `VP8 ` or `VP8L` chunk, with libwebp's incremental decoder.
@safe
final class WebPImageDecoder {
    /// Size of the rows.
    let size: PixelSize
    /// The image's size as its bitstream has to have it.
    private let storedSize: PixelSize
    /// libwebp keeps the address of its configuration.
    private let configuration: UnsafeMutablePointer<WebPDecoderConfig>
    private let decoder: OpaquePointer
    /// The chunks so far, which libwebp looks at from the beginning, wherever they have moved.
    private var chunks: [UInt8] = []
    /// How many bytes make it worth while to decode on.
    ///
    /// Grows with the file: a lossless image's tables are read again from the beginning until they have come entirely.
    private var nextAttempt = 0
    /// libwebp gets none of the chunks before they have passed.
    private var tableCheck: LosslessTableCheck
    private(set) var isComplete = false
    private var hasFailed = false
    /// A Boolean value that indicates whether the bitstream has the size that it has to have, which is known with its
    /// first bytes.
    private var hasItsSize = false
    /// Rows complete so far, from the top.
    private(set) var rowCount = 0

    /// Creates a decoder whose rows have the given size, of an image whose tables may take `tableLimit` bytes.
    convenience init(storedSize: PixelSize, size: PixelSize, tableLimit: Int) throws(CodecError) {
        try self.init(storedSize: storedSize, size: size, tableLimit: tableLimit) { options in
            guard size != storedSize else { return }
            options.use_scaling = 1
            options.scaled_width = Int32(clamping: size.width)
            options.scaled_height = Int32(clamping: size.height)
        }
    }

    /// Creates a decoder that reads all of the bitstream, and makes pixels of the last corner only.
    convenience init(checking storedSize: PixelSize, tableLimit: Int) throws(CodecError) {
        // libwebp wants even places.
        let top = (storedSize.height - 1) & ~1
        let size = PixelSize(width: 1, height: storedSize.height - top)
        try self.init(storedSize: storedSize, size: size, tableLimit: tableLimit) { options in
            options.use_cropping = 1
            options.crop_top = Int32(clamping: top)
            options.crop_width = 1
            options.crop_height = Int32(clamping: size.height)
        }
    }

    private init(
        storedSize: PixelSize, size: PixelSize, tableLimit: Int, _ setOptions: (inout WebPDecoderOptions) -> Void
    ) throws(CodecError) {
        self.size = size
        self.storedSize = storedSize
        tableCheck = LosslessTableCheck(size: storedSize, limit: tableLimit)
        unsafe configuration = .allocate(capacity: 1)
        unsafe configuration.initialize(to: WebPDecoderConfig())
        let isReady = unsafe WebPInitDecoderConfig(configuration) != 0
        unsafe configuration.pointee.output.colorspace = MODE_RGBA
        unsafe setOptions(&configuration.pointee.options)
        let decoder = isReady ? unsafe WebPIDecode(nil, 0, configuration) : nil
        guard let decoder = unsafe decoder else {
            unsafe configuration.deallocate()
            throw .corrupt(.webp, "no memory for a decoder")
        }
        unsafe self.decoder = decoder
    }

    deinit {
        unsafe WebPIDelete(decoder)
        unsafe WebPFreeDecBuffer(&configuration.pointee.output)
        unsafe configuration.deallocate()
    }

    /// Makes room for chunks of so many bytes, so that they need not be moved to grow.
    func reserve(_ count: Int) {
        chunks.reserveCapacity(count)
    }

    /// Takes the next bytes of the chunks.
    func append(_ bytes: Span<UInt8>) {
        chunks.append(bytes)
    }

    /// Decodes what has come, if it is much more than the last time or `isLast`.
    func decode(isLast: Bool) throws(CodecError) {
        guard !isComplete, !hasFailed, isLast || chunks.count >= nextAttempt else { return }
        nextAttempt = chunks.count + max(4 << 10, chunks.count / 16)
        hasFailed = true
        // libwebp allocates as much as the bitstream asks for, whatever its container says.
        if !hasItsSize { try compareSizes() }
        guard try passTableCheck(isLast: isLast) else {
            hasFailed = false
            return
        }
        let status = unsafe chunks.withUnsafeBufferPointer { bytes in
            unsafe WebPIUpdate(decoder, bytes.baseAddress, bytes.count)
        }
        countRows()
        switch status {
        case VP8_STATUS_OK: isComplete = true
        case VP8_STATUS_SUSPENDED where !isLast: hasFailed = false
        case VP8_STATUS_SUSPENDED, VP8_STATUS_NOT_ENOUGH_DATA: throw .corrupt(.webp, "the image data end too early")
        case VP8_STATUS_OUT_OF_MEMORY: throw .corrupt(.webp, "no memory for the image")
        case VP8_STATUS_UNSUPPORTED_FEATURE: throw .unsupportedFeature(.webp, "an unknown kind of bitstream")
        default: throw .corrupt(.webp, "invalid image data")
        }
    }

    private func compareSizes() throws(CodecError) {
        var features = WebPBitstreamFeatures()
        let status = unsafe chunks.withUnsafeBufferPointer { bytes in
            unsafe WebPGetFeatures(bytes.baseAddress, bytes.count, &features)
        }
        // What is too short or invalid takes no memory, and decoding tells which it is.
        guard status == VP8_STATUS_OK else { return }
        guard Int(features.width) == storedSize.width, Int(features.height) == storedSize.height else {
            throw .corrupt(.webp, "the image has another size than its header says")
        }
        hasItsSize = true
    }

    /// Looks at the tables that libwebp would make; false if more bytes are needed.
    private func passTableCheck(isLast: Bool) throws(CodecError) -> Bool {
        guard !tableCheck.hasPassed else { return true }
        let chunks = chunks
        try tableCheck.read(chunks.span)
        guard tableCheck.hasPassed || !isLast else { throw .corrupt(.webp, "the image data end too early") }
        return tableCheck.hasPassed
    }

    private func countRows() {
        var lastRow: Int32 = 0
        if unsafe WebPIDecGetRGB(decoder, &lastRow, nil, nil, nil) != nil { rowCount = Int(lastRow) }
    }

    /// Calls `body` with a row that is complete.
    func withRow(_ row: Int, _ body: (Span<UInt8>) -> Void) {
        var stride: Int32 = 0
        guard row >= 0, row < rowCount, let pixels = unsafe WebPIDecGetRGB(decoder, nil, nil, nil, &stride) else {
            return
        }
        unsafe body(Span(_unsafeStart: pixels + row * Int(stride), count: size.width * 4))
    }
}
