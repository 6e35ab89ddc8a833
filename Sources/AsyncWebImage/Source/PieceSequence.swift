import HTTPTransport
import ResponseCache

/// The body of a response whose pieces an asynchronous sequence of the application delivers.
final class PieceSequence<Pieces: AsyncSequence>: BodySource
where Pieces.Element: Collection, Pieces.Element.Element == UInt8 {
    private let url: HTTPURL
    private var iterator: Pieces.AsyncIterator

    init(_ pieces: Pieces, of url: HTTPURL) {
        self.url = url
        iterator = pieces.makeAsyncIterator()
    }

    var metrics: TransferMetrics { TransferMetrics() }

    func next() async throws -> [UInt8]? {
        do {
            while let piece = try await iterator.next(isolation: #isolation) {
                if !piece.isEmpty { return Array(piece) }
                // Empty pieces may never end.
                try Task.checkCancellation()
            }
        } catch {
            throw TransportError.ofSource(error, url)
        }
        try Task.checkCancellation()
        return nil
    }
}
