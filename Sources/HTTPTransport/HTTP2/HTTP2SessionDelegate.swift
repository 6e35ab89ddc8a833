/// A receiver of the responses of an ``HTTP2Session``.
///
/// It is called within ``HTTP2Session/receive(_:)`` and ``HTTP2Session/sendPending(_:)``, and may open, cancel, and
/// consume meanwhile, but not receive.
protocol HTTP2SessionDelegate: AnyObject {
    /// Takes the lines of an interim response's head, of the final one, or of the trailers, as in HTTP/1.1.
    ///
    /// A head begins with a status line, trailers do not. Both end with an empty line, which is missing if the lines have
    /// more bytes than ``ResponseHeadParser`` accepts.
    func receive(headerLines: Span<UInt8>, of stream: Int32)

    /// Takes a part of the body.
    ///
    /// The peer sends no more than the stream's window until ``HTTP2Session/consume(_:of:)`` is called.
    func receive(body: Span<UInt8>, of stream: Int32)

    /// Takes the end of a stream, which is the last call for it.
    func end(of stream: Int32, _ end: HTTP2StreamEnd)
}
