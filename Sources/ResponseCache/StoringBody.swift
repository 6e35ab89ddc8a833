import HTTPTransport

/// A body that is stored as it is pulled.
///
/// It becomes an entry before its end is returned. If the disk is slower than the body, pulling waits for it. If it is
/// interrupted, or released before, its beginning is kept.
final class StoringBody: BodySource {
    private let body: any BodySource
    /// The use of the stored data at the end.
    enum End {
        /// The data is the whole body of the response to be stored.
        case commit
        /// The data is the beginning of the body.
        case keep
    }

    private let writer: EntryWriter
    private let end: End
    private var hasEnded = false

    init(_ body: any BodySource, by writer: EntryWriter, at end: End = .commit) {
        self.body = body
        self.writer = writer
        self.end = end
    }

    deinit {
        if !hasEnded { writer.release() }
    }

    var metrics: TransferMetrics { body.metrics }

    func next() async throws -> [UInt8]? {
        guard !hasEnded else { return try await body.next() }
        do {
            if let piece = try await body.next() {
                await writer.append(piece)
                return piece
            }
        } catch {
            hasEnded = true
            await writer.keep()
            throw error
        }
        hasEnded = true
        switch end {
        case .commit: await writer.commit()
        case .keep: await writer.keep()
        }
        return nil
    }
}
