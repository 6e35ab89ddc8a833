internal import NIOCore

extension LoopbackOrigin {
    /// The script of one answer: what is said, how it is framed, how fast it goes, and what goes wrong on the way.
    ///
    /// A value; faults are added by chaining: `Response(body: jpeg).paced(bytesPerSecond: 50_000).cut(at:
    /// .body(1_000))`.
    public struct Response: Sendable {
        /// How the receiver is to learn where the body ends.
        public enum Framing: Sendable, Hashable {
            /// An honest `Content-Length`.
            case contentLength
            /// A `Content-Length` that says `claimed` whatever the body's size. After a body that is shorter than
            /// claimed the connection is closed; of a longer one every byte is sent and the connection kept.
            case claimedContentLength(Int)
            /// `Transfer-Encoding: chunked`, a chunk for every piece written (at most 64 KiB).
            case chunked
            /// No length; the end of the connection is the end of the body.
            case untilClose
            /// No head either: the body is all that goes over the wire, then the connection is closed.
            case raw
        }

        /// An answer before the answer, such as 103 Early Hints.
        public struct Interim: Sendable, Hashable {
            /// The status, 100 to 199.
            public var status: Int
            /// The header fields.
            public var headerFields: HeaderFields

            /// An interim answer, 103 if nothing else is said.
            public init(status: Int = 103, headerFields: HeaderFields = [:]) {
                self.status = status
                self.headerFields = headerFields
            }
        }

        /// The status code.
        public var status: Int
        /// What follows the status code in the status line; nil for the usual words.
        public var reason: String?
        /// The header fields, to which the framing adds its own.
        public var headerFields: HeaderFields
        /// How the end of the body is told.
        public var framing: Framing
        /// Interim answers sent before the head, in order.
        public var interim: [Interim] = []
        /// How the chunks of a chunked body are written; correctly by default.
        public var chunkFormat = ChunkFormat()

        let content: ByteBuffer
        /// What follows the body.
        var continuation: [RepeatedBytes] = []
        /// What is sent behind ``interim``.
        var interimFlood: [RepeatedBytes] = []
        /// What is sent behind the last chunk.
        var trailers: [RepeatedBytes] = []
        var pace: Pace?
        var interruptions: [Interruption] = []

        /// An answer that goes out at once and whole.
        public init(
            status: Int = 200, headerFields: HeaderFields = [:], body: [UInt8] = [], framing: Framing = .contentLength
        ) {
            self.status = status
            self.headerFields = headerFields
            self.framing = framing
            content = ByteBuffer(bytes: body)
        }

        /// The body, without what follows it by ``followed(by:_:every:)-([UInt8],_,_)``.
        public var body: [UInt8] { Array(content.readableBytesView) }

        /// A redirect to `location`, absolute or relative.
        public static func redirect(to location: String, status: Int = 302) -> Response {
            Response(status: status, headerFields: ["Location": location])
        }

        /// These bytes and nothing else, then the end of the connection.
        ///
        /// For malformed status lines, folded lines and what else is not HTTP; an endless head is one that is
        /// ``followed(by:_:every:)-(String,_,_)`` an endless number of lines.
        public static func raw(_ bytes: [UInt8]) -> Response {
            Response(body: bytes, framing: .raw)
        }

        /// These characters, as UTF-8, and nothing else, then the end of the connection.
        public static func raw(_ text: String) -> Response {
            raw(Array(text.utf8))
        }
    }
}
