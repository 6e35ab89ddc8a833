/// A built-in format's decoder of still images: file bytes in, rows of the stored image out, from the top.
protocol BuiltInRowDecoder: RowDecoder {
    /// Returns the size of the rows that the decoder produces if `target` is requested: the stored size or, if the
    /// codec can scale while decoding, a smaller size that is no less than the target, and large enough that the
    /// resampling filter decides the quality, unless a smaller size makes the codec much faster.
    static func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize

    /// Returns the factor by which the image in rows of `rowSize` is smaller, if such rows can extend beyond its right
    /// and bottom edges; `nil` if they end there.
    static func rowScale(of header: ImageHeader, rowSize: PixelSize) -> Double?

    /// Returns the maximum memory that the decoder holds while it produces rows of `rowSize`, in bytes.
    static func workingBytes(of header: ImageHeader, rowSize: PixelSize) -> Int

    /// Returns the maximum memory that the decoder holds while it passes rows of the stored size as planes, in bytes;
    /// `nil` if it passes only pixels.
    static func planarWorkingBytes(of header: ImageHeader) -> Int?

    /// Creates a decoder for a file with this header, whose limits have been checked. `rowSize` is a result of
    /// ``rowSize(of:for:)``. The file is then appended from its first byte.
    ///
    /// With `toleratesDamage`, it continues after damaged data if its codec can, and reports this in ``isDamaged``.
    init(
        header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits, toleratesDamage: Bool
    ) throws(CodecError)
}

/// A decoder of one file.
///
/// It must be used from one task at a time.
protocol RowDecoder: AnyObject {
    /// Takes the next bytes of the file, in pieces of any size, and passes every row that is complete and final to
    /// `rows`.
    ///
    /// Bytes after the end of the image are ignored.
    func append(_ bytes: Span<UInt8>, to rows: any RowSink) throws(CodecError)

    /// Ends the file: passes the remaining rows to `rows`, or throws `truncated`.
    func finish(to rows: any RowSink) throws(CodecError)

    /// The number of frames seen so far or declared; `nil` if unknown.
    var frameCount: Int? { get }

    /// The deviations of the file that leave no pixel missing or doubtful, known once `finish` has returned.
    var warnings: Set<ImageWarning> { get }

    /// An orientation found after the pixels, known once `finish` has returned; `nil` if there is none.
    var trailingOrientation: ImageOrientation? { get }

    /// The latest scan or pass of which a preview can be rendered, counted from 1; `nil` while there is none, and for
    /// files whose rows arrive only once, where the received rows are the preview.
    var previewScan: Int? { get }

    /// Returns the size of a preview's rows if neither side must exceed `maximumSide` pixels; `nil` if previews
    /// always have the size of the image's rows.
    func previewRowSize(maximumSide: Int) -> PixelSize?

    /// Returns the size of smaller rows that show everything known so far, and the part of them that corresponds to
    /// `region` of rows of `rowSize`; `nil` if there are none.
    func previewDetail(of region: PixelRegion, in rowSize: PixelSize) -> (rowSize: PixelSize, region: PixelRegion)?

    /// Passes all rows of a preview in the best quality known so far to `rows`. `size` is a result of
    /// ``previewRowSize(maximumSide:)`` or ``previewDetail(of:in:)``, or the size of the image's rows.
    func renderPreview(size: PixelSize, to rows: any RowSink) throws(CodecError)

    /// A Boolean value that indicates whether some pixels are wrong, which only happens with a decoder that tolerates
    /// damage.
    var isDamaged: Bool { get }

    /// Passes the rows that can be recovered after an error, and have not been passed yet, to `rows` in the best
    /// quality known. Call this method at most once.
    func salvage(to rows: any RowSink)

    /// A Boolean value that indicates whether the end of the image has been reached, so that it will be finished
    /// soon; `false` if the decoder cannot tell.
    var hasReachedEnd: Bool { get }
}

extension RowDecoder {
    var frameCount: Int? { nil }
    var warnings: Set<ImageWarning> { [] }
    var trailingOrientation: ImageOrientation? { nil }
    var previewScan: Int? { nil }
    func previewRowSize(maximumSide: Int) -> PixelSize? { nil }
    func previewDetail(of region: PixelRegion, in rowSize: PixelSize) -> (rowSize: PixelSize, region: PixelRegion)? {
        nil
    }
    func renderPreview(size: PixelSize, to rows: any RowSink) throws(CodecError) {}
    var isDamaged: Bool { false }
    func salvage(to rows: any RowSink) {}
    var hasReachedEnd: Bool { false }
}

extension BuiltInRowDecoder {
    static func rowSize(of header: ImageHeader, for target: PixelSize) -> PixelSize { header.size }
    static func rowScale(of header: ImageHeader, rowSize: PixelSize) -> Double? { nil }
    static func planarWorkingBytes(of header: ImageHeader) -> Int? { nil }

    /// Creates a decoder that tolerates no damage.
    init(header: ImageHeader, rowSize: PixelSize, limits: DecodeLimits) throws(CodecError) {
        try self.init(header: header, rowSize: rowSize, limits: limits, toleratesDamage: false)
    }
}
