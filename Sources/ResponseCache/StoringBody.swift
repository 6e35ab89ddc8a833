import HTTPTransport

/// A body that is stored as it is pulled.
///
/// It becomes an entry when its end is pulled. If it is interrupted, or released before, its beginning is kept.
final class StoringBody: BodySource {
    private let body: any BodySource
    /// What becomes of the data at the end.
    enum End {
        /// They are the whole body of the response to be stored.
        case commit
        /// They are its beginning.
        case keep
    }

    private let writer: EntryWriter
    private let end: End
    private var isComplete = false

    init(_ body: any BodySource, by writer: EntryWriter, at end: End = .commit) {
        self.body = body
        self.writer = writer
        self.end = end
    }

    deinit {
        if !isComplete { writer.keep() }
    }

    var metrics: TransferMetrics { body.metrics }

    func next() async throws -> [UInt8]? {
        let piece = try await body.next()
        if let piece {
            writer.append(piece)
        } else if !isComplete {
            isComplete = true
            switch end {
            case .commit: writer.commit()
            case .keep: writer.keep()
            }
        }
        return piece
    }
}
