/// A decoder of the frames of one animation whose file it holds.
protocol FrameDecoder: AnyObject {
    /// Passes all rows of frame `index`, counted from 0, to `rows`.
    func decodeFrame(at index: Int, to rows: any RowSink) throws(CodecError)
}
