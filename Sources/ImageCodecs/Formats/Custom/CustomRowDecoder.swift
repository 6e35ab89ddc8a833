/// A decoder of one file of a ``CustomFormat``: bytes in, rows out, from the top.
///
/// A decoder is used by one task at a time and can be a value type. After an error only ``salvage(to:)`` is called.
public protocol CustomRowDecoder {
    /// Takes the next bytes of the file, in pieces of any size starting with the first byte, and passes every
    /// complete row to `rows`.
    ///
    /// Ignore bytes after the end of the image. Throws `corrupt`, `unsupportedFeature`, and the errors of `rows`.
    mutating func append(_ bytes: Span<UInt8>, to rows: inout ImageRows) throws(CodecError)

    /// Ends the file: passes the remaining rows to `rows`, or throws `truncated`.
    mutating func finish(to rows: inout ImageRows) throws(CodecError)

    /// The latest scan or pass of which a preview can be rendered, counted from 1; `nil`, the default, while there is
    /// none, and for files that are not progressive or interlaced, of which the received rows are the preview.
    var previewScan: Int? { get }

    /// Passes all rows of a preview of ``previewScan`` to `rows`, in the best quality available. The rows of the final
    /// image are passed later.
    mutating func renderPreview(to rows: inout ImageRows) throws(CodecError)

    /// Passes the rows that can be recovered after `truncated` or `corrupt`, and have not been passed yet, to `rows`;
    /// none by default. Called at most once.
    mutating func salvage(to rows: inout ImageRows) throws(CodecError)
}

extension CustomRowDecoder {
    /// `nil`: the received rows are the preview.
    public var previewScan: Int? { nil }
    /// Does nothing.
    public mutating func renderPreview(to rows: inout ImageRows) throws(CodecError) {}
    /// Does nothing.
    public mutating func salvage(to rows: inout ImageRows) throws(CodecError) {}
}
