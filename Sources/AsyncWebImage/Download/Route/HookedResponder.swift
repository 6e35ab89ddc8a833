import HTTPTransport
import HTTPTypes
import ResponseCache

/// The hooks of a configuration in front of another responder.
struct HookedResponder: Responder {
    private let hooks: DownloadHooks
    private let next: any Responder
    private let isWanted: @Sendable (ResponseHead) -> Bool

    /// Creates a responder that passes requests to the hooks, and the responses that `isWanted` accepts by their head.
    init(_ hooks: DownloadHooks, before next: any Responder, isWanted: @escaping @Sendable (ResponseHead) -> Bool) {
        self.hooks = hooks
        self.next = next
        self.isWanted = isWanted
    }

    func response(to request: TransportRequest) async throws -> IncomingResponse {
        let url = request.url
        let request = try await hooks.request(instead: request)
        try Task.checkCancellation()
        // A URL of another kind would go where it is not checked.
        guard request.url.isOfSource == url.isOfSource, !url.isOfSource || request.url.scheme == url.scheme else {
            throw TransportError(
                url: request.url.string, reason: .sourceRefused,
                detail: "a request modifier cannot replace a URL with one of another source")
        }
        var response = try await next.response(to: request)
        guard isWanted(response.head) else { return response }
        try await hooks.validate(response.head, to: request)
        guard let transformer = try await hooks.transformer(for: response.head) else { return response }
        response.body = TransformedBody(response.body, of: response.head, by: transformer, hooks)
        response.length = nil
        return response
    }
}

/// A body whose bytes a hook replaces.
private final class TransformedBody: BodySource {
    private let body: any BodySource
    private let head: ResponseHead
    private let hooks: DownloadHooks
    private var transformer: any BodyTransformer
    private var received = 0
    private var isAtEnd = false

    init(
        _ body: any BodySource, of head: ResponseHead, by transformer: any BodyTransformer, _ hooks: DownloadHooks
    ) {
        self.body = body
        self.hooks = hooks
        self.head = head
        self.transformer = transformer
    }

    var metrics: TransferMetrics { body.metrics }

    func next() async throws -> [UInt8]? {
        while !isAtEnd {
            try Task.checkCancellation()
            let bytes: [UInt8]
            if let piece = try await body.next() {
                received += piece.count
                bytes = try await hooks.asking(.bodyTransform, head.url) { try await transformer.transform(piece) }
            } else {
                isAtEnd = true
                // After the transformer, the length cannot be checked.
                if let error = head.error(ofLength: received) { throw error }
                bytes = try await hooks.asking(.bodyTransform, head.url) { try await transformer.finish() }
            }
            if !bytes.isEmpty { return bytes }
        }
        return nil
    }
}

extension ResponseHead {
    /// Returns the error of a complete body of `received` bytes, or nil if the length is that of the head.
    fileprivate func error(ofLength received: Int) -> TransportError? {
        let hasBody = status != .noContent && status != .notModified
        guard let contentLength, hasBody, received != contentLength else { return nil }
        return TransportError(
            url: url.string,
            reason: received > contentLength
                ? .invalidResponse : .truncated(expected: contentLength, received: received))
    }
}
