import HTTPTransport

/// A body that is stored as it is pulled.
///
/// It becomes an entry when its end is pulled. If it is interrupted, or released before, its beginning is kept.
final class StoringBody: BodySource {
    private let body: any BodySource
    private let writer: EntryWriter
    private var isComplete = false

    init(_ body: any BodySource, by writer: EntryWriter) {
        self.body = body
        self.writer = writer
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
            writer.commit()
        }
        return piece
    }
}
