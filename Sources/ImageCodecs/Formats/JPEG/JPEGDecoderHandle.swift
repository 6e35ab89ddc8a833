import CJPEG

/// Owns libjpeg's decoder.
///
/// The only place where Swift and libjpeg exchange pointers.
@safe
struct JPEGDecoderHandle: ~Copyable {
    /// The outcome of a call that reads rows.
    enum Progress {
        /// This many rows are at the front of the buffer.
        case rows(Int)
        /// More bytes are needed.
        case needsBytes
        /// The image has been read to the end of the file, or the preview to its last row.
        case ended
    }

    /// The maximum number of bytes that ``feed(_:)`` accepts at once.
    static let largestPiece = Int(CJPEG_LARGEST_PIECE)

    /// The maximum number of bytes of a file with arithmetic coding, which is held as a whole.
    static let maximumHeldBytes = Int(CJPEG_MOST_HELD_BYTES)

    private let decoder: OpaquePointer
    private let scanLimit: JPEGScanLimit

    init(_ setup: CJPEGDecoderSetup, _ scanLimit: JPEGScanLimit) throws(CodecError) {
        var setup = setup
        setup.maximum_scans = UInt32(clamping: scanLimit.count)
        guard let decoder = unsafe cjpeg_decoder_create(setup) else { throw .outOfMemory(.jpeg) }
        unsafe self.decoder = decoder
        self.scanLimit = scanLimit
    }

    deinit {
        unsafe cjpeg_decoder_destroy(decoder)
    }

    /// Passes the next bytes of the file to the decoder.
    ///
    /// Read rows until more bytes are needed before calling this method again.
    func feed(_ bytes: Span<UInt8>) throws(CodecError) {
        let status = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cjpeg_decoder_feed(decoder, bytes.baseAddress, bytes.count)
        }
        guard status == .ok else { throw failure(status) }
    }

    /// Ends the input.
    func endInput() {
        unsafe cjpeg_decoder_end_input(decoder)
    }

    /// Reads the next rows of the image into `buffer`.
    func readRows(into buffer: inout [UInt8]) throws(CodecError) -> Progress {
        var count: UInt32 = 0
        let status = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> CJPEGStatus in
            guard let start = buffer.baseAddress else { return .needsBytes }
            return unsafe cjpeg_decoder_read_rows(decoder, start, buffer.count, &count)
        }
        return try progress(status, count)
    }

    /// Converts the first `count` pixels of `buffer` to RGBA if the file is CMYK.
    func convertCMYK(_ buffer: inout [UInt8], count: Int) {
        precondition(count * 4 <= buffer.count)
        unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe cjpeg_decoder_convert_inks(decoder, start, count)
        }
    }

    /// Decodes the received scans without producing pixels; returns that more bytes are needed or the image has
    /// ended.
    func check() throws(CodecError) -> Progress {
        try progress(unsafe cjpeg_decoder_check(decoder), 0)
    }

    /// The number of complete scans of a multi-scan file; 0 for others.
    var completeScans: Int {
        unsafe Int(cjpeg_decoder_complete_scans(decoder))
    }

    /// A Boolean value that indicates whether a preview at 1/8 of the size would lack detail of the first channel.
    var hasDetail: Bool {
        unsafe cjpeg_decoder_has_detail(decoder) != 0
    }

    /// Starts to render the latest complete scan at this many eighths of the stored size, no more than those of the
    /// image.
    ///
    /// Returns `false` if there is no complete scan, or the image itself can be read.
    func beginPreview(eighths: Int) throws(CodecError) -> Bool {
        let status = unsafe cjpeg_decoder_begin_preview(decoder, UInt32(eighths))
        guard status == .ok || status == .needsBytes else { throw failure(status) }
        return status == .ok
    }

    /// Reads the next rows of the preview into `buffer`; call repeatedly until it has ended.
    func readPreviewRows(into buffer: inout [UInt8]) throws(CodecError) -> Progress {
        var count: UInt32 = 0
        let status = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> CJPEGStatus in
            guard let start = buffer.baseAddress else { return .ended }
            return unsafe cjpeg_decoder_read_preview_rows(decoder, start, buffer.count, &count)
        }
        return try progress(status, count)
    }

    /// The deviations from the format that have been found.
    var warnings: Set<ImageWarning> {
        let deviations = unsafe Int(cjpeg_decoder_deviations(decoder))
        var warnings: Set<ImageWarning> = []
        if deviations & CJPEG_MISSING_END != 0 { warnings.insert(.missingEnd) }
        if deviations & CJPEG_EXTRA_BYTES != 0 { warnings.insert(.extraBytes) }
        return warnings
    }

    /// A Boolean value that indicates whether damaged data has been tolerated.
    var isDamaged: Bool {
        unsafe cjpeg_decoder_is_damaged(decoder) != 0
    }

    /// Starts to read the rows that can be recovered after an error; returns `false` if there are none.
    func beginSalvage() -> Bool {
        unsafe cjpeg_decoder_begin_salvage(decoder) == .ok
    }

    private func progress(_ status: CJPEGStatus, _ count: UInt32) throws(CodecError) -> Progress {
        switch status {
        case .ok: return .rows(Int(count))
        case .needsBytes: return .needsBytes
        case .ended: return .ended
        case .truncated, .corrupt, .unsupported, .tooManyScans, .outOfMemory: throw failure(status)
        }
    }

    private func failure(_ status: CJPEGStatus) -> CodecError {
        switch status {
        case .truncated: .truncated(.jpeg)
        case .unsupported: .unsupportedFeature(.jpeg, message)
        case .tooManyScans: scanLimit.error
        case .outOfMemory: .outOfMemory(.jpeg)
        case .corrupt, .ok, .needsBytes, .ended: .corrupt(.jpeg, message)
        }
    }

    private var message: String {
        unsafe String(cString: cjpeg_decoder_message(decoder))
    }
}
