internal import NIOCore

extension LoopbackOrigin {
    /// The script of a response: its content, framing, speed, and faults.
    ///
    /// To add faults, chain methods: `Response(body: jpeg).paced(bytesPerSecond: 50_000).cut(at: .body(1_000))`.
    public struct Response: Sendable {
        /// The method by which the client finds the end of the body.
        public enum Framing: Sendable, Hashable {
            /// A correct `Content-Length`.
            case contentLength
            /// A `Content-Length` with the associated value, regardless of the body's size. After a shorter body, the connection
            /// is closed; a longer body is sent completely and the connection is kept.
            case claimedContentLength(Int)
            /// `Transfer-Encoding: chunked`, with one chunk for every piece written (at most 64 KiB).
            case chunked
            /// No length: the end of the connection is the end of the body.
            case untilClose
            /// No head: only the body is sent, then the connection is closed.
            case raw
        }

        /// An interim response, such as 103 Early Hints.
        public struct Interim: Sendable, Hashable {
            /// The status, 100 to 199.
            public var status: Int
            /// The header fields.
            public var headerFields: HeaderFields

            /// Creates an interim response, with status 103 by default.
            public init(status: Int = 103, headerFields: HeaderFields = [:]) {
                self.status = status
                self.headerFields = headerFields
            }
        }

        /// The status code.
        public var status: Int
        /// The reason phrase in the status line; `nil` for the standard one.
        public var reason: String?
        /// The header fields; the framing adds its own.
        public var headerFields: HeaderFields
        /// The framing of the body.
        public var framing: Framing
        /// The interim responses sent before the head, in order.
        public var interim: [Interim] = []
        /// The encoding of the chunks of a chunked body; correct by default.
        public var chunkFormat = ChunkFormat()

        let content: ByteBuffer
        /// The bytes after the body.
        var continuation: [RepeatedBytes] = []
        /// The bytes after ``interim``.
        var interimFlood: [RepeatedBytes] = []
        /// The bytes after the last chunk.
        var trailers: [RepeatedBytes] = []
        var pace: Pace?
        var interruptions: [Interruption] = []

        /// Creates a response that is sent completely and immediately.
        public init(
            status: Int = 200, headerFields: HeaderFields = [:], body: [UInt8] = [], framing: Framing = .contentLength
        ) {
            self.status = status
            self.headerFields = headerFields
            self.framing = framing
            content = ByteBuffer(bytes: body)
        }

        /// The body, without bytes added by ``followed(by:_:every:)-([UInt8],_,_)``.
        public var body: [UInt8] { Array(content.readableBytesView) }

        /// Returns a redirect to `location`, absolute or relative.
        public static func redirect(to location: String, status: Int = 302) -> Response {
            Response(status: status, headerFields: ["Location": location])
        }

        /// Returns a response that consists of only these bytes, followed by the end of the connection.
        ///
        /// Use this method for malformed status lines, folded lines, and other invalid HTTP. For an endless head, add
        /// an endless number of lines with ``followed(by:_:every:)-(String,_,_)``.
        public static func raw(_ bytes: [UInt8]) -> Response {
            Response(body: bytes, framing: .raw)
        }

        /// Returns a response that consists of only this text as UTF-8, followed by the end of the connection.
        public static func raw(_ text: String) -> Response {
            raw(Array(text.utf8))
        }
    }
}
