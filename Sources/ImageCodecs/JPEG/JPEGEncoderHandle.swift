import CJPEG

/// Owns libjpeg's encoder.
@safe
struct JPEGEncoderHandle: ~Copyable {
    private let encoder: OpaquePointer
    private let rowBytes: Int

    init(
        width: UInt32, height: UInt32, quality: UInt32, isProgressive: Bool, hasFullChroma: Bool, isGrey: Bool
    ) throws(CodecError) {
        let setup = CJPEGEncoderSetup(
            width: width, height: height, quality: quality, progressive: isProgressive ? 1 : 0,
            full_chroma: hasFullChroma ? 1 : 0, grayscale: isGrey ? 1 : 0)
        guard let encoder = unsafe cjpeg_encoder_create(setup) else {
            throw .encodingFailed(.jpeg, "out of memory")
        }
        unsafe self.encoder = encoder
        rowBytes = Int(width) * 4
    }

    deinit {
        unsafe cjpeg_encoder_destroy(encoder)
    }

    /// Writes everything in front of the first row.
    func begin() throws(CodecError) {
        try check(unsafe cjpeg_encoder_begin(encoder))
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
