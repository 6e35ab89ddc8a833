import HTTPTransport

/// A body whose beginning and remainder come from different sources.
final class JoinedBody: BodySource {
    private var beginning: (any BodySource)?
    private let remainder: any BodySource

    init(_ beginning: any BodySource, then remainder: any BodySource) {
        self.beginning = beginning
        self.remainder = remainder
    }

    var metrics: TransferMetrics { remainder.metrics }

    func next() async throws -> [UInt8]? {
        if let piece = try await beginning?.next() { return piece }
        beginning = nil
        return try await remainder.next()
    }
}
