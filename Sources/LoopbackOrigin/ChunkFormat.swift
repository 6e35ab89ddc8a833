internal import NIOCore

extension LoopbackOrigin.Response {
    /// How a chunked body is written, damage included (RFC 9112, section 7.1).
    ///
    /// A value that changes nothing has correct chunks, one for every piece written.
    public struct ChunkFormat: Sendable, Hashable {
        /// The maximum number of bytes of one chunk; at most 64 KiB count.
        public var maximumSize: Int
        /// The text between the size and the end of its line, such as `;name=value`.
        public var chunkExtension: String
        /// The number added to each size: positive for chunks that are shorter than they say.
        public var sizeError: Int
        /// The text in place of each size; nil for the size itself.
        public var sizeText: String?
        /// The text behind the bytes of each chunk.
        public var dataEnd: String
        /// A Boolean value that tells whether the empty chunk and the trailers follow the body; if not, the connection
        /// is closed there.
        public var hasLastChunk: Bool

        /// A format that is correct but for what is given.
        public init(
            maximumSize: Int = 64 * 1_024, chunkExtension: String = "", sizeError: Int = 0, sizeText: String? = nil,
            dataEnd: String = "\r\n", hasLastChunk: Bool = true
        ) {
            self.maximumSize = maximumSize
            self.chunkExtension = chunkExtension
            self.sizeError = sizeError
            self.sizeText = sizeText
            self.dataEnd = dataEnd
            self.hasLastChunk = hasLastChunk
        }

        /// The bytes of a chunk that holds `piece`.
        func chunk(_ piece: ByteBuffer) -> ByteBuffer {
            let size = String(max(0, piece.readableBytes.addingReportingOverflow(sizeError).partialValue), radix: 16)
            var chunk = ByteBuffer(string: (sizeText ?? size) + chunkExtension + "\r\n")
            chunk.writeImmutableBuffer(piece)
            chunk.writeString(dataEnd)
            return chunk
        }
    }
}
