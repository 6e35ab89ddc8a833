public import ImageCodecs

/// QOI without its own decoder of pieces, as an application would wrap a library that only reads complete files.
public struct WholeQOIFormat: WholeFileFormat {
    private let pieces = QOIFormat()

    /// The name, media type, and file extension of the format.
    public var format: ImageFormat { pieces.format }

    /// Creates the format, which has no options.
    public init() {}

    /// Returns whether a file begins with the four letters of the signature.
    public func recognizes(_ beginning: Span<UInt8>) -> Bool { pieces.recognizes(beginning) }

    /// Returns the header of a complete file, which must end with the eight bytes that end each QOI file.
    public func header(of file: Span<UInt8>) throws(CodecError) -> ImageHeader? {
        guard var header = try pieces.header(of: file) else { throw .truncated(format) }
        // Like a library that has to see the end of the file.
        guard file.count >= 8, file[file.count - 1] == 1 || header.mayBeAnimated else { throw .truncated(format) }
        header.hasAlpha = true
        return header
    }

    /// Returns the memory for a row and for the colors seen, in bytes.
    public func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int {
        pieces.workingBytes(of: header, rowSize: rowSize)
    }

    /// Decodes the image, or the first frame.
    public func decode(
        _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
    ) throws(CodecError) {
        var decoder = QOIDecoder(rowSize, isAnimated: header.mayBeAnimated)
        try decoder.append(file, to: &rows)
        try decoder.finish(to: &rows)
    }

    /// Creates a decoder of all frames.
    public func animation(of file: [UInt8], header: ImageHeader) throws(CodecError) -> (any WholeFileAnimation)? {
        var parser = QOIAnimation(header.size)
        let frames = try parser.append(file.span)
        try parser.finish()
        return Frames(frames, repetitionCount: parser.repetitionCount)
    }

    private final class Frames: WholeFileAnimation {
        let frames: [CustomFrame]
        let repetitionCount: Int

        init(_ frames: [CustomFrame], repetitionCount: Int) {
            self.frames = frames
            self.repetitionCount = repetitionCount
        }

        var delays: [Duration] { frames.map(\.delay) }

        func decodeFrame(at index: Int, to rows: inout ImageRows) throws(CodecError) {
            var decoder = QOIDecoder(frames[index].size)
            let file = frames[index].file
            try decoder.append(file.span, to: &rows)
            try decoder.finish(to: &rows)
        }
    }
}
