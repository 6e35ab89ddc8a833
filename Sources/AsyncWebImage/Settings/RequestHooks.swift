public import HTTPTransport

/// A hook that is called for every request of a download, including retries and range requests, and can replace or
/// reject it.
///
/// For example, it can sign a request, send it elsewhere, or reject it by throwing an error. It is called when the
/// download has a slot, so that a signed request is sent immediately, and before a ``ResponseCache`` is searched. It is
/// not called for redirects, which the transport follows.
///
/// The time that a modifier takes counts toward ``Deadlines/total``, and its download keeps its slot.
public protocol RequestModifier: Sendable {
    /// Returns the request to send instead of `request`.
    ///
    /// Throws an error to reject the request.
    func modify(_ request: TransportRequest) async throws -> TransportRequest
}

/// A hook that validates a response before its body is read.
///
/// It is called only for responses with an accepted status and type, and is called again for retries.
public protocol ResponseValidator: Sendable {
    /// Validates the response to `request`; throws an error to reject it.
    ///
    /// `request` is the one that was sent first, before any redirects, as a ``RequestModifier`` has returned it.
    func validate(_ head: ResponseHead, to request: TransportRequest) async throws
}

/// A hook that transforms the body as it arrives, for example to decrypt it.
///
/// Decoders, previews, and ``ImageLoader/data(for:)`` receive only the transformed bytes, to which limits apply as
/// well. With this hook, interrupted downloads start over instead of resuming.
public protocol BodyTransform: Sendable {
    /// Returns the transformer for the body that follows `head`; `nil` to leave it unchanged.
    func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)?
}

/// A transformer of one body, piece by piece; used by one download.
public protocol BodyTransformer {
    /// Returns the output for the next bytes, which can be empty.
    mutating func transform(_ bytes: [UInt8]) async throws -> [UInt8]
    /// Returns the remaining output at the end of the body; throws an error if the body is incomplete.
    mutating func finish() async throws -> [UInt8]
}
