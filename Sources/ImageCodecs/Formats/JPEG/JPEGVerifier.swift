import CJPEG

/// Verifies a JPEG by decoding the entropy-coded data of all its scans, without transforms or pixels.
///
/// For a progressive file, one bit per coefficient is held; for others, a row of blocks. The following are errors: an
/// end of file before the last block, invalid codes, restart markers out of order, unexpected bytes that may be blocks,
/// scans inconsistent with earlier ones, and a channel without a scan. A progressive file with fewer scans than usual
/// is complete if an end marker follows, because the number of scans is not declared.
final class JPEGVerifier: BuiltInVerifier {
    private let handle: JPEGDecoderHandle
    private var hasEnded = false

    static func workingBytes(of header: ImageHeader, beginning: Span<UInt8>) -> Int {
        var sum = 512 << 10 + header.memoryUsage
        // libjpeg prepares for rows at an eighth of the size.
        sum += header.size.width * 64
        for (blocks, sampling) in zip(header.blocks, header.sampling) {
            sum += blocks.width * sampling.vertical * 128
            if header.isProgressive { sum += blocks.area * 8 }
        }
        return sum
    }

    init(header: ImageHeader, limits: DecodeLimits) throws(CodecError) {
        let rowSize = JPEGScale.eighth(of: header.size).rowSize
        handle = try JPEGDecoderHandle(
            CJPEGDecoderSetup(
                stored_width: UInt32(header.size.width), stored_height: UInt32(header.size.height),
                row_width: UInt32(rowSize.width), row_height: UInt32(rowSize.height),
                eighths: 1, maximum_scans: 0,
                is_coarse: 0, has_refinements: 0, maximum_coefficient_bytes: 16 << 20, tolerates_damage: 0,
                checks_only: 1),
            JPEGScanLimit(of: header.size, limits: limits))
    }

    func append(_ bytes: Span<UInt8>) throws(CodecError) {
        var rest = bytes
        while !hasEnded, !rest.isEmpty {
            try handle.feed(rest.extracting(first: JPEGDecoderHandle.largestPiece))
            rest = rest.extracting(droppingFirst: min(rest.count, JPEGDecoderHandle.largestPiece))
            try check()
        }
    }

    func finish(_ header: inout ImageHeader) throws(CodecError) {
        handle.endInput()
        try check()
        guard hasEnded else { throw .truncated(.jpeg) }
        header.warnings = handle.warnings
    }

    private func check() throws(CodecError) {
        guard !hasEnded else { return }
        if case .ended = try handle.check() { hasEnded = true }
    }
}
