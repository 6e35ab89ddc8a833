import CJPEG
import CJPEGWriter
import ImageCodecs

/// Owns libjpeg's encoder.
@safe
struct JPEGEncoderHandle: ~Copyable {
    private let encoder: OpaquePointer
    private let rowBytes: Int

    init(width: UInt32, height: UInt32, options: JPEGOptions, isGray: Bool) throws(CodecError) {
        let setup = CJPEGEncoderSetup(
            width: width, height: height, quality: UInt32(clamping: options.usableQuality),
            progressive: options.isProgressive ? 1 : 0,
            horizontal_factor: UInt32(clamping: options.lightnessFactors.horizontal),
            vertical_factor: UInt32(clamping: options.lightnessFactors.vertical), grayscale: isGray ? 1 : 0)
        guard let encoder = unsafe cjpeg_encoder_create(setup) else {
            throw .encodingFailed(.jpeg, "out of memory")
        }
        unsafe self.encoder = encoder
        rowBytes = Int(width) * 4
    }

    deinit {
        unsafe cjpeg_encoder_destroy(encoder)
    }

    /// Writes the beginning of the file.
    func begin() throws(CodecError) {
        try check(unsafe cjpeg_encoder_begin(encoder))
    }

    /// Writes a segment of up to 65,533 bytes, between ``begin()`` and the first row.
    func write(segment marker: UInt8, _ content: [UInt8]) throws(CodecError) {
        let status = unsafe content.withUnsafeBufferPointer { bytes in
            unsafe cjpeg_encoder_write_segment(encoder, Int32(marker), bytes.baseAddress, UInt32(clamping: bytes.count))
        }
        try check(status)
    }

    /// Writes the next row, RGBA; alpha is ignored.
    func write(_ row: Span<UInt8>) throws(CodecError) {
        precondition(row.count == rowBytes)
        let status = unsafe row.withUnsafeBufferPointer { row in
            unsafe row.baseAddress.map { unsafe cjpeg_encoder_write_row(encoder, $0) } ?? .ok
        }
        try check(status)
    }

    /// Completes the file.
    func finish() throws(CodecError) -> [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        var count = 0
        try check(unsafe cjpeg_encoder_finish(encoder, &bytes, &count))
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    private func check(_ status: CJPEGStatus) throws(CodecError) {
        guard status == .ok else {
            throw .encodingFailed(.jpeg, unsafe String(cString: cjpeg_encoder_message(encoder)))
        }
    }
}
