/// A custom format whose decoder needs the complete file, such as one that wraps a library without an interface for
/// pieces.
///
/// Its files are received completely before the header is read, and nothing is shown earlier. All methods receive the
/// complete file: also ``CustomFormat/header(of:)``, which must return the header or throw an error. The file is counted
/// as memory of the decode, in addition to ``CustomFormat/workingBytes(of:rowSize:)``.
public protocol WholeFileFormat: CustomFormat {
    /// Passes all rows of `file`, of `rowSize` pixels, to `rows`, starting with the top row; of an animation, those of
    /// the first frame.
    ///
    /// `file` is valid only during the call. Rows that have been passed before `truncated` or `corrupt` is thrown are the
    /// available part of the image.
    func decode(
        _ file: Span<UInt8>, header: ImageHeader, rowSize: PixelSize, to rows: inout ImageRows
    ) throws(CodecError)

    /// A Boolean value that indicates whether even a small file can take long, such as one that another process renders;
    /// `false` by default.
    ///
    /// A loader then reads and decodes all files on threads for long work, as it does large images, so that enough threads
    /// are left for those of other formats.
    var takesLong: Bool { get }

    /// Creates a decoder of the frames of `file`, whose header has a frame count other than 1; `nil`, the default, if the
    /// file is a still image.
    func animation(of file: [UInt8], header: ImageHeader) throws(CodecError) -> (any WholeFileAnimation)?
}

extension WholeFileFormat {
    /// `false`: the number of pixels decides.
    public var takesLong: Bool { false }
    /// Returns `nil`: all files are still images.
    public func animation(of file: [UInt8], header: ImageHeader) throws(CodecError) -> (any WholeFileAnimation)? { nil }

    /// Creates a decoder that passes the file to ``decode(_:header:rowSize:to:)``.
    public func decoder(for header: ImageHeader, rowSize: PixelSize) -> any CustomRowDecoder {
        WholeFileRowDecoder(format: self, header: header, rowSize: rowSize)
    }
}

/// A decoder of the frames of one file of a ``WholeFileFormat``; each frame replaces the whole image.
///
/// It is used by one task at a time. Frames are requested in any order, mostly in that of the file.
public protocol WholeFileAnimation: AnyObject {
    /// The display time of each frame, which is treated like ``CustomFrame/delay``.
    ///
    /// The caller checks their number and the pixels of all frames against the limits.
    var delays: [Duration] { get }

    /// The number of times the animation plays; 0 means forever.
    var repetitionCount: Int { get }

    /// Passes all rows of frame `index`, counted from 0, to `rows`. They have the size of the image.
    func decodeFrame(at index: Int, to rows: inout ImageRows) throws(CodecError)
}

/// The decoder of a file that is appended in one piece.
private struct WholeFileRowDecoder: CustomRowDecoder {
    let format: any WholeFileFormat
    let header: ImageHeader
    let rowSize: PixelSize
    var hasDecoded = false

    mutating func append(_ file: Span<UInt8>, to rows: inout ImageRows) throws(CodecError) {
        // Bytes after the end of the file, which the caller has declared, do not belong to it.
        guard !hasDecoded, !file.isEmpty else { return }
        hasDecoded = true
        try format.decode(file, header: header, rowSize: rowSize, to: &rows)
    }

    mutating func finish(to rows: inout ImageRows) throws(CodecError) {}
}

/// Adapts a ``WholeFileAnimation`` and verifies that it honors its contract.
final class WholeFileFrameDecoder: FrameDecoder {
    private let animation: any WholeFileAnimation
    private let header: ImageHeader

    init(_ animation: any WholeFileAnimation, header: ImageHeader) {
        self.animation = animation
        self.header = header
    }

    func decodeFrame(at index: Int, to sink: any RowSink) throws(CodecError) {
        var rows = ImageRows(of: header.format, size: header.size, count: 0, to: sink)
        try animation.decodeFrame(at: index, to: &rows)
        if let failure = rows.failure { throw failure }
        guard rows.count == header.size.height else { throw .truncated(header.format) }
    }
}
