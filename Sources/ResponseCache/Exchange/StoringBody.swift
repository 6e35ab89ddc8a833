import HTTPTransport

/// A body that is stored as it is pulled.
///
/// It becomes an entry before its end is returned. If the disk is slower than the body, pulling waits for it. If it is
/// interrupted, or released before, its beginning is kept, unless no more than that was wanted: few would ever continue
/// it, and writing it costs more than reading a header.
final class StoringBody: BodySource {
    private let body: any BodySource
    private let writer: EntryWriter
    private let interest: BodyInterest?
    private var hasEnded = false

    init(_ body: any BodySource, by writer: EntryWriter, interest: BodyInterest? = nil) {
        self.interest = interest
        self.body = body
        self.writer = writer
    }

    deinit {
        if !hasEnded { if isInBeginning { writer.drop() } else { writer.release() } }
    }

    private var isInBeginning: Bool { interest?.isInBeginning == true }

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
            if isInBeginning { writer.drop() } else { await writer.keep() }
            throw error
        }
        hasEnded = true
        await writer.commit()
        return nil
    }
}
