import HTTPTransport

/// A stored body, read on the cache's threads.
///
/// If it turns out to be damaged, ``StoredBodyError`` is thrown, and what has been read is void.
final class StoredSource: BodySource {
    let metrics: TransferMetrics
    private let stored: StoredResponse
    private let cache: ResponseCache
    private var reader: StoredBodyReader
    /// The next piece, if it has been read already.
    private var ahead: [UInt8]?

    /// Creates the body of a response whose transfer had these metrics, if there was one.
    init(_ stored: StoredResponse, in cache: ResponseCache, metrics: TransferMetrics = TransferMetrics()) {
        self.stored = stored
        self.cache = cache
        self.metrics = metrics
        reader = StoredBodyReader(stored.body)
    }

    /// Reads the first piece; an entry that turns out to be damaged is removed.
    func readAhead() async throws(StoredBodyError) { ahead = try await read() }

    func next() async throws -> [UInt8]? {
        try Task.checkCancellation()
        if let piece = ahead {
            ahead = nil
            return piece
        }
        return try await read()
    }

    private func read() async throws(StoredBodyError) -> [UInt8]? {
        if reader.needsNoStorage { return try reader.next() }
        let (piece, reader) = await cache.thread.run(to: stored.body.isShort ? .short : .long) {
            [cache, stored, reader] in
            var reader = reader
            let piece = Result { () throws(StoredBodyError) in try reader.next() }
            if case .failure(let error) = piece {
                cache.removeDamaged(stored, after: error)
                // The response has begun, so the request fails; its retry must not use the entry again.
                if error == .unreadable, reader.delivered > 0 { cache.skip(stored.key) }
            }
            return (piece, reader)
        }
        self.reader = reader
        return try piece.get()
    }
}
