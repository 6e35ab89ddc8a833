package import HTTPTransport

/// A type that answers requests: over the network, or with the help of another responder.
///
/// A cache and the hooks of an application are responders around another one: a request in, a response out.
package protocol Responder: Sendable {
    /// Returns the response to a request as soon as its head is known.
    ///
    /// Throws a `TransportError`, a `CancellationError`, or an error of the responder's own.
    func response(to request: TransportRequest) async throws -> IncomingResponse
}

/// A response whose body is pulled.
package struct IncomingResponse {
    /// The head.
    package var head: ResponseHead
    /// The source of the body.
    package var source: ResponseSource
    /// The length of the body, if it is known.
    package var length: Int?
    /// The body.
    package var body: any BodySource
    /// The time when the request was sent, by the clock of the cache, if it was sent before it was made of the responder.
    package var requestedAt: Int?

    /// Creates a response whose body is as long as its head says.
    package init(head: ResponseHead, source: ResponseSource, body: any BodySource) {
        self.head = head
        self.source = source
        length = head.contentLength
        self.body = body
    }
}

/// The body of one response, pulled by one task.
///
/// A source that is released before its end cancels its transfer, or closes its file.
package protocol BodySource: AnyObject {
    /// Returns the next piece, which is not empty; `nil` at the end of a complete body.
    ///
    /// Throws an error if the body is incomplete, or the task is canceled.
    func next() async throws -> [UInt8]?

    /// The metrics of the transfer; complete at the end of the body.
    var metrics: TransferMetrics { get }
}
