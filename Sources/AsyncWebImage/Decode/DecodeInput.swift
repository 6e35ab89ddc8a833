/// The bytes of a file that a decode reads, from the first one.
package protocol DecodeInput: AnyObject {
    /// Returns the pieces received since the last call; waits until there are any. Empty if the wait ended early, `nil`
    /// at the end.
    ///
    /// With `inBatches`, a wait should end only when it is worthwhile to wake a thread. Throws ``BodyRestarted`` if all
    /// earlier pieces are void and the next one is the first of another file.
    func next(inBatches: Bool) async throws -> [[UInt8]]?

    /// Prepares for a decode that takes `bytes` bytes of memory, which are requested next.
    ///
    /// A slow server must not hold much memory while others wait for it.
    func prepare(for bytes: Int) async throws

    /// The declared number of bytes in the file; `nil` if unknown, and by default.
    var expectedLength: Int? { get }

    /// The position in the body of a download, as whose memory the bytes count that a decode holds; `nil` by default.
    var body: BodyReader? { get }

    /// The storage of a file whose bytes count nowhere; `nil` by default.
    var storage: (any DecodeStorage)? { get }
}

extension DecodeInput {
    package var expectedLength: Int? { nil }
    package var body: BodyReader? { nil }
    package var storage: (any DecodeStorage)? { nil }
}

/// The place where a file is stored whose bytes must not be held in memory unless it is granted for them.
package protocol DecodeStorage: DecodeInput {
    /// The maximum number of bytes that may be held while the header is not known.
    var maximumHeldBytes: Int { get }
    /// The maximum memory of a decode, in bytes.
    var memoryLimit: Int { get }
    /// Throws an error if a decode may never take this many bytes.
    func admit(_ bytes: Int) throws
    /// Stores the file until more than `limit` bytes have been stored, or all; returns the number of bytes.
    func store(upTo limit: Int) async throws -> Int
    /// Continues with the first byte.
    ///
    /// Not possible anymore after ``DecodeInput/prepare(for:)``.
    func rewind() throws
}

extension DecodeStorage {
    /// Passes the beginning of the file to `parse` until it returns `true`, and at last `nil`, to find a header behind more
    /// bytes than may be held.
    ///
    /// Returns the memory that this takes, in bytes, which is granted for the search only. The next piece is the first.
    package func search(
        upTo limit: Int, _ decoder: ImageDecoder, admit: (Int) throws -> Void, _ parse: ([UInt8]?) throws -> Bool
    ) async throws -> Int {
        var rest = try await store(upTo: limit)
        // A growing array temporarily exists twice.
        let bytes = 2 * rest
        try admit(bytes)
        try rewind()
        try await decoder.withMemory(bytes) {
            while rest > 0, let pieces = try await next(inBatches: false) {
                for piece in pieces { rest = try parse(piece) ? 0 : rest - piece.count }
            }
            _ = try parse(nil)
        }
        try rewind()
        return bytes
    }
}

extension BodyReader: DecodeInput {
    package var body: BodyReader? { self }

    package func next(inBatches: Bool) async throws -> [[UInt8]]? { try await next(limit: .max, inBatches: inBatches) }

    /// Suspends reading: other decodes of the same body may hold the memory, and need its next bytes before they release
    /// it.
    package func prepare(for bytes: Int) async throws { suspendReading() }
}
