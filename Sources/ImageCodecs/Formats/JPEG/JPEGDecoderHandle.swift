import CJPEG

/// Owns libjpeg's decoder.
///
/// The one place where Swift and it exchange pointers.
@safe
struct JPEGDecoderHandle: ~Copyable {
    /// What a call for rows came to.
    enum Progress {
        /// This many rows are at the front of the buffer.
        case rows(Int)
        /// Nothing more can be done with the bytes fed so far.
        case needsBytes
        /// The image has been read to its end marker, or the preview to its last row.
        case ended
    }

    /// The maximum number of bytes that ``feed(_:)`` takes at once.
    static let largestPiece = Int(CJPEG_LARGEST_PIECE)

    /// The maximum number of bytes of a file with arithmetic coding, which is held as a whole.
    static let mostHeldBytes = Int(CJPEG_MOST_HELD_BYTES)

    private let decoder: OpaquePointer
    private let maximumScans: Int

    init(_ setup: CJPEGDecoderSetup) throws(CodecError) {
        guard let decoder = unsafe cjpeg_decoder_create(setup) else { throw .corrupt(.jpeg, "out of memory") }
        unsafe self.decoder = decoder
        maximumScans = Int(setup.maximum_scans)
    }

    deinit {
        unsafe cjpeg_decoder_destroy(decoder)
    }

    /// Takes the next bytes of the file.
    ///
    /// Rows are to be read until it needs bytes before the next call.
    func feed(_ bytes: Span<UInt8>) throws(CodecError) {
        let status = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe cjpeg_decoder_feed(decoder, bytes.baseAddress, bytes.count)
        }
        guard status == .ok else { throw failure(status) }
    }

    /// No bytes will follow.
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

    /// Makes RGBA of the first `count` pixels of `buffer`, if the file has inks.
    func convertInks(_ buffer: inout [UInt8], count: Int) {
        precondition(count * 4 <= buffer.count)
        unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe cjpeg_decoder_convert_inks(decoder, start, count)
        }
    }

    /// Decodes the scans as far as the bytes go, without pixels: it needs bytes or has ended.
    func check() throws(CodecError) -> Progress {
        try progress(unsafe cjpeg_decoder_check(decoder), 0)
    }

    /// Complete scans of a file of several, 0 for others.
    var completeScans: Int {
        unsafe Int(cjpeg_decoder_complete_scans(decoder))
    }

    /// Starts to render the latest complete scan at so many eighths of the stored size, no more than those of the image;
    /// false if there is none, or the image itself can be read.
    func beginPreview(eighths: Int) throws(CodecError) -> Bool {
        let status = unsafe cjpeg_decoder_begin_preview(decoder, UInt32(eighths))
        guard status == .ok || status == .needsBytes else { throw failure(status) }
        return status == .ok
    }

    /// Reads the next rows of the preview into `buffer`; to be repeated until it ended.
    func readPreviewRows(into buffer: inout [UInt8]) throws(CodecError) -> Progress {
        var count: UInt32 = 0
        let status = unsafe buffer.withUnsafeMutableBufferPointer { buffer -> CJPEGStatus in
            guard let start = buffer.baseAddress else { return .ended }
            return unsafe cjpeg_decoder_read_preview_rows(decoder, start, buffer.count, &count)
        }
        return try progress(status, count)
    }

    /// A Boolean value that indicates whether damaged data have been let pass.
    var isDamaged: Bool {
        unsafe cjpeg_decoder_is_damaged(decoder) != 0
    }

    /// After an error, starts to read the rows that can still be had; false if there are none.
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
        case .tooManyScans: .overLimit(.scans, value: maximumScans + 1, limit: maximumScans)
        case .corrupt, .outOfMemory, .ok, .needsBytes, .ended: .corrupt(.jpeg, message)
        }
    }

    private var message: String {
        unsafe String(cString: cjpeg_decoder_message(decoder))
    }
}
