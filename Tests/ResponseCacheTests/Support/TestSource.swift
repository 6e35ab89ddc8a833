import HTTPTransport

@testable import ResponseCache

/// A body with given pieces and a given end.
final class TestSource: BodySource {
    let metrics = TransferMetrics()
    private var pieces: [[UInt8]]
    private let failure: TransportError?

    /// Creates a body that is complete, or ends by `failure`.
    init(_ pieces: [[UInt8]], then failure: TransportError? = nil) {
        self.pieces = pieces
        self.failure = failure
    }

    func next() async throws -> [UInt8]? {
        if !pieces.isEmpty { return pieces.removeFirst() }
        if let failure { throw failure }
        return nil
    }
}

extension BodySource {
    /// All bytes up to the end.
    func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await next() { bytes += piece }
        return bytes
    }
}
