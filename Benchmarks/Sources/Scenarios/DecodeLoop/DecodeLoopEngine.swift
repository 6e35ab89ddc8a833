import ImageCodecs
import JPEGLoop

/// The parts of a decode that are repeated in one process.
enum DecodeLoopEngine: String, CaseIterable, Sendable {
    /// This library, from the bytes of a file to scaled pixels.
    case decoder
    /// A C loop on libjpeg that decodes to the same rows and discards them.
    case libjpeg
    /// This library without a codec: the same number of rows, scaled to the same size.
    case filter

    /// Returns the work for a JPEG file of an image of `size` that is scaled to at most `maximumSide` pixels per side.
    func work(_ file: [UInt8], size: PixelSize, maximumSide: Int) -> () throws -> Void {
        let target = size.fitting(maximumSide: maximumSide)
        let eighths = size.eighths(for: target)
        let rowSize = PixelSize(width: (size.width * eighths + 7) / 8, height: (size.height * eighths + 7) / 8)
        switch self {
        case .decoder:
            return { try Self.decode(file, maximumSide: maximumSide, to: target) }
        case .libjpeg:
            return {
                let rows = unsafe file.withUnsafeBufferPointer { bytes in
                    unsafe jpeg_loop_decode(bytes.baseAddress, bytes.count, UInt32(eighths))
                }
                try Mismatch.check("rows", Int(rows), is: rowSize.height)
            }
        case .filter:
            let format = StoredRows(size: rowSize)
            return { try Self.decode(format.file, maximumSide: maximumSide, to: target, customFormats: [format]) }
        }
    }

    private static func decode(
        _ file: [UInt8], maximumSide: Int, to target: PixelSize, customFormats: [any CustomFormat] = []
    ) throws {
        let image = try StreamingDecoder.decode(
            file.span, options: DecodeOptions(target: .maximumSide(maximumSide)), customFormats: customFormats)
        try Mismatch.check("columns", image.pixels.width, is: target.width)
    }
}
