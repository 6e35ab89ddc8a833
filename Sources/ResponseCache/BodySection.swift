import HTTPTransport

/// A section of another body, which is read to its end.
///
/// The last piece is returned only when the whole body has proved to be undamaged.
final class BodySection: BodySource {
    private let body: any BodySource
    private let positions: Range<Int>
    /// The number of bytes read.
    private var position = 0
    private var last: [UInt8]?

    /// Creates a body of the bytes of `body` at `positions`.
    init(_ positions: Range<Int>, of body: any BodySource) {
        self.positions = positions
        self.body = body
    }

    var metrics: TransferMetrics { body.metrics }

    func next() async throws -> [UInt8]? {
        while let piece = try await body.next() {
            let start = position
            position += piece.count
            let own = positions.clamped(to: start..<position)
            guard !own.isEmpty else { continue }
            let previous = last
            last = own.count == piece.count ? piece : Array(piece[own.lowerBound - start..<own.upperBound - start])
            if let previous { return previous }
        }
        defer { last = nil }
        return last
    }
}
