/// What a ``CustomFormat`` decodes one file with: bytes in, rows out, from the top.
///
/// One decoder belongs to one task at a time, and may be a value. After an error it is asked for nothing but ``salvage(to:)``.
public protocol CustomRowDecoder {
    /// Takes the next bytes of the file, of any number, the first ones included, and hands every row that is now complete to
    /// `rows`.
    ///
    /// Bytes behind the end of the image are to be ignored. Throws `corrupt`, `unsupportedFeature` and what `rows` throw.
    mutating func append(_ bytes: Span<UInt8>, to rows: inout ImageRows) throws(CodecError)

    /// The file is at its end: hands over the rows that are left, or throws `truncated`.
    mutating func finish(to rows: inout ImageRows) throws(CodecError)

    /// The latest scan or pass of which a preview can be rendered, from 1; nil, as by default, while there is none,
    /// and for files whose rows come once only: what has come is then all there is to show.
    var previewScan: Int? { get }

    /// Hands all rows of a preview of that scan, as good as they are known, to `rows`; the image's own rows are still to come.
    mutating func renderPreview(to rows: inout ImageRows) throws(CodecError)

    /// After `truncated` or `corrupt`, once: hands over the rows that can be made of what came before and have not been
    /// handed out yet; none by default.
    mutating func salvage(to rows: inout ImageRows) throws(CodecError)
}

extension CustomRowDecoder {
    /// None.
    public var previewScan: Int? { nil }
    /// Nothing.
    public mutating func renderPreview(to rows: inout ImageRows) throws(CodecError) {}
    /// Nothing.
    public mutating func salvage(to rows: inout ImageRows) throws(CodecError) {}
}
