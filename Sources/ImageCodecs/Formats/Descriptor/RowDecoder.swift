/// What each format's folder provides: file bytes in, rows of the stored image out, from the top.
protocol BuiltInRowDecoder: RowDecoder {
    /// The size of the rows that this decoder hands out when `target` is wanted: the stored size, or a smaller one, but
    /// no less than the target, and at least twice as much unless the codec makes it much faster, if the codec can scale
    /// while it decodes.
    static func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize

    /// The maximum number of bytes of memory the decoder itself holds while it makes rows of `rowSize`.
    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int

    /// A decoder for a file with this header, whose limits have been checked; `rowSize` as ``rowSize(of:for:)`` gave
    /// it. The file is then appended from its first byte.
    ///
    /// With `toleratesDamage` it goes on behind damaged data if its codec can, and says so in ``isDamaged``.
    init(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError)
}

/// A decoder at work on one file.
///
/// It belongs to one task at a time.
protocol RowDecoder: AnyObject {
    /// Takes the next bytes of the file, of any number, and hands every row that is now complete and final to `rows`.
    ///
    /// Bytes behind the end of the image are ignored.
    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError)

    /// The file is at its end: hands over the rows that are left, or throws `truncated`.
    func finish(to rows: any RowSink) throws(CodecError)

    /// Frames seen so far, or declared; nil if the decoder cannot tell.
    var frameCount: Int? { get }

    /// An orientation that came behind the pixels, known once `finish` has returned; nil if there was none.
    var lateOrientation: ImageOrientation? { get }

    /// The latest scan or pass of which a preview can be rendered, from 1; nil for files whose rows come once only
    /// (what has come is then all there is to show) and while there is none.
    var previewScan: Int? { get }

    /// The size of a preview's rows where neither side is to be longer than `maximumSide`, if that can be had; nil if they
    /// are as large as all rows in any case.
    func previewRowSize(maximumSide: Int) -> PixelSize?

    /// Hands all rows of a preview, as good as they are known, to `rows`; `size` is as
    /// ``previewRowSize(maximumSide:)`` gave it, or that of all rows.
    func renderPreview(size: PixelSize, to rows: any RowSink) throws(CodecError)

    /// A Boolean value that indicates whether some of the pixels are not what the file was made of, as only a decoder
    /// that tolerates damage has them.
    var isDamaged: Bool { get }

    /// After an error, and once only: hands over the rows that can be made of what had come before it and have not been
    /// handed out yet, as good as they are known.
    func salvage(to rows: any RowSink)

    /// A Boolean value that indicates whether the end of the image has come, so that it is about to be finished;
    /// false if the decoder cannot tell.
    var hasReachedEnd: Bool { get }
}

extension RowDecoder {
    var frameCount: Int? { nil }
    var lateOrientation: ImageOrientation? { nil }
    var previewScan: Int? { nil }
    func previewRowSize(maximumSide: Int) -> PixelSize? { nil }
    func renderPreview(size: PixelSize, to rows: any RowSink) throws(CodecError) {}
    var isDamaged: Bool { false }
    func salvage(to rows: any RowSink) {}
    var hasReachedEnd: Bool { false }
}

extension BuiltInRowDecoder {
    static func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize { header.size }

    /// A decoder that tolerates no damage.
    init(header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits) throws(CodecError) {
        try self.init(header: header, rowSize: rowSize, limits: limits, toleratesDamage: false)
    }
}
