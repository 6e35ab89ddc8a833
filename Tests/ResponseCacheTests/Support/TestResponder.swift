import HTTPTransport
import HTTPTypes
import Threading

@testable import ResponseCache

/// Answers requests by a script, and keeps them.
final class TestResponder: Responder {
    typealias Script = @Sendable (TransportRequest) throws -> (HTTPResponse.Status, HTTPFields, [[UInt8]])

    private let redirectCount: Int
    private let script: Script
    private let state = Locked<[TransportRequest]>([])

    var requests: [TransportRequest] { state.withLock { $0 } }

    /// Creates a responder whose responses all have this number of followed redirects.
    init(redirectCount: Int = 0, _ script: @escaping Script) {
        self.redirectCount = redirectCount
        self.script = script
    }

    func response(to request: TransportRequest) async throws -> IncomingResponse {
        state.withLock { $0.append(request) }
        let (status, fields, body) = try script(request)
        let head = ResponseHead(
            response: HTTPResponse(status: status, headerFields: fields), url: request.url, redirectCount: redirectCount
        )
        return IncomingResponse(head: head, source: .network, body: TestSource(body))
    }
}
