/// A destination for the rows of an opaque image as planes: luma, and chroma at half the resolution (YUV 4:2:0, BT.601
/// with limited range).
///
/// Rows arrive from the top, those of chroma before the two rows of luma that they belong to. Spans are valid only during
/// the call.
protocol PlaneSink: AnyObject {
    /// Takes the next rows of blue and red chroma (U and V), which have half the width of the image, rounded up.
    func append(blueRow: Span<UInt8>, redRow: Span<UInt8>)

    /// Takes the next row of luma.
    func append(lumaRow: Span<UInt8>)
}
