internal import NIOCore

extension LoopbackOrigin.Response {
    /// The encoding of a chunked body, including faults (RFC 9112, section 7.1).
    ///
    /// The default value produces correct chunks, one for every piece written.
    public struct ChunkFormat: Sendable, Hashable {
        /// The maximum number of bytes of one chunk, limited to 64 KiB.
        public var maximumSize: Int
        /// The text between the size and the end of its line, such as `;name=value`.
        public var chunkExtension: String
        /// The number added to each size: positive for chunks that are shorter than declared.
        public var sizeError: Int
        /// The text that replaces the size of each chunk except the last, empty one; `nil` for the actual size plus
        /// ``sizeError``.
        public var sizeText: String?
        /// The text after the bytes of each chunk.
        public var dataEnd: String
        /// A Boolean value that indicates whether the empty chunk and the trailers follow the body; otherwise the
        /// connection is closed there.
        public var hasLastChunk: Bool

        /// Creates a format that is correct except for the given parameters.
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

        /// Returns the bytes of a chunk that contains `piece`.
        func chunk(_ piece: ByteBuffer) -> ByteBuffer {
            let size = String(max(0, piece.readableBytes.addingReportingOverflow(sizeError).partialValue), radix: 16)
            var chunk = ByteBuffer(string: (sizeText ?? size) + chunkExtension + "\r\n")
            chunk.writeImmutableBuffer(piece)
            chunk.writeString(dataEnd)
            return chunk
        }
    }
}
