internal import NIOCore

// Content that is sent in addition to head and body without being held in memory.
extension LoopbackOrigin.Response {
    /// Returns a response whose body, or raw bytes, are continued by copies of `bytes`, with a pause of `interval`
    /// before each copy.
    ///
    /// They count as bytes of the body, for its `Content-Length` and for points such as `.body(1_000_000)`. An
    /// endless body is sent without a `Content-Length`. Copies without pauses are sent together, in pieces of up to
    /// 64 KiB, as fast as the client reads.
    ///
    /// ```swift
    /// let flood = LoopbackOrigin.Response.raw("HTTP/1.1 200 OK\r\n").followed(by: "X-Field: x\r\n", .endlessly)
    /// ```
    public func followed(by bytes: [UInt8], _ repetition: Repetition = .once, every interval: Duration? = nil) -> Self {
        var response = self
        if let part = RepeatedBytes(ByteBuffer(bytes: bytes), repetition, every: interval) {
            response.continuation.append(part)
        }
        return response
    }

    /// Returns a response whose body, or raw bytes, are continued by copies of `text` as UTF-8, with a pause of
    /// `interval` before each copy.
    public func followed(by text: String, _ repetition: Repetition = .once, every interval: Duration? = nil) -> Self {
        followed(by: Array(text.utf8), repetition, every: interval)
    }

    /// Returns a response that sends copies of an interim response before the head, after the responses in the property
    /// ``interim``, with a pause of `interval` before each copy.
    ///
    /// Raw responses have no interim responses.
    public func preceded(
        by interim: Interim, _ repetition: Repetition = .once, every interval: Duration? = nil
    ) -> Self {
        var response = self
        if let part = RepeatedBytes(ByteBuffer(string: interim.head), repetition, every: interval) {
            response.interimFlood.append(part)
        }
        return response
    }

    /// Returns a response that sends copies of `line` as trailers after the last chunk, with a pause of `interval`
    /// before each copy.
    ///
    /// The line is sent as written and must include its own end, such as `X-Trailer: x\r\n`. Only chunked responses
    /// have trailers.
    public func trailed(by line: String, _ repetition: Repetition = .once, every interval: Duration? = nil) -> Self {
        var response = self
        if let part = RepeatedBytes(ByteBuffer(string: line), repetition, every: interval) {
            response.trailers.append(part)
        }
        return response
    }
}
