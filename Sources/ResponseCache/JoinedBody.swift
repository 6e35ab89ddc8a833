import HTTPTransport

/// A body whose beginning and remainder come from different sources.
final class JoinedBody: BodySource {
    private var beginning: (any BodySource)?
    private let rest: any BodySource

    init(_ beginning: any BodySource, then rest: any BodySource) {
        self.beginning = beginning
        self.rest = rest
    }

    var metrics: TransferMetrics { rest.metrics }

    func next() async throws -> [UInt8]? {
        if let piece = try await beginning?.next() { return piece }
        beginning = nil
        return try await rest.next()
    }
}
