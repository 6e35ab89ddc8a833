package import HTTPTransport
import HTTPTypes

/// A responder that follows redirects itself, one request after the other, so that a cache behind it sees every
/// response with its own URL: redirects and their targets are stored and reused by their own rules.
package struct RedirectingResponder: Responder {
    private let next: any Responder

    /// Creates a responder that asks `next` for the response of each hop.
    package init(before next: any Responder) {
        self.next = next
    }

    package func response(to request: TransportRequest) async throws -> IncomingResponse {
        var request = request
        request.followedRedirects = 0
        while true {
            let response = try await next.response(to: request)
            guard let target = try response.head.target(of: request, from: response.source) else { return response }
            // It has no body, but is stored at its end.
            while (try? await response.body.next()) != nil {}
            request = target
        }
    }
}

extension ResponseHead {
    /// Returns the request that a redirect leads to; `nil` for other responses, and for those of transports that follow
    /// redirects themselves.
    fileprivate func target(
        of request: TransportRequest, from source: ResponseSource
    ) throws(TransportError) -> TransportRequest? {
        guard redirection != nil || source != .network else { return nil }
        return try RedirectRule.next(
            after: response, of: request, redirectCount: request.followedRedirects ?? 0,
            addsCredentials: redirection?.addsCredentials ?? false)
    }
}
