import HTTPTransport
import ResponseCache

/// The route to an image whose URL is not fetched over HTTP: the responder or the transport of its source.
struct SourceRoute: Sendable {
    private enum Answer: Sendable {
        case responder(any Responder)
        case transport(any Transport)
    }

    private let answer: Answer
    /// A Boolean value that indicates whether the response cache stores responses and answers requests.
    let usesResponseCache: Bool
    /// A Boolean value that indicates whether later requests for the same URL get the same image.
    let isReusable: Bool

    /// Creates a route to a responder.
    init(_ responder: any Responder, isReusable: Bool = true) {
        answer = .responder(responder)
        usesResponseCache = false
        self.isReusable = isReusable
    }

    /// Creates a route to a transport, whose responses the response cache may store.
    init(_ transport: any Transport, usesResponseCache: Bool) {
        answer = .transport(transport)
        self.usesResponseCache = usesResponseCache
        isReusable = true
    }

    /// The transport to send requests with; `nil` if another responder answers them.
    var transport: (any Transport)? {
        if case .transport(let transport) = answer { transport } else { nil }
    }

    /// Returns the responder, which sends requests by `network` if the route has a transport.
    func responder(over network: any Responder) -> any Responder {
        switch answer {
        case .responder(let responder): responder
        case .transport: TransportedSource(network: network)
        }
    }
}

/// A source behind a transport of the application.
private struct TransportedSource: Responder {
    let network: any Responder

    func response(to request: TransportRequest) async throws -> IncomingResponse {
        var response = try await network.response(to: request)
        response.source = .source
        return response
    }
}

extension TransportError {
    /// The longest description of an error of the application, in bytes.
    private static let maximumDetailBytes = 400

    /// Returns the error of a transfer that an error of a source has ended.
    static func ofSource(_ error: any Error, _ url: HTTPURL) -> any Error {
        if error is TransportError || error is CancellationError { return error }
        let detail = String(String(describing: error).prefix(maximumDetailBytes))
        return TransportError(url: url.string, reason: .sourceFailed, detail: detail)
    }
}
