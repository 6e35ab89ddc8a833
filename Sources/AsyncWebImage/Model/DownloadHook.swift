public import HTTPTransport

/// Sees every request before it is sent, retries and continuations included, and may replace it: sign it, send it
/// elsewhere, or refuse it by throwing.
///
/// The download has its slot by then, so that what is signed is sent at once.
public protocol RequestModifier: Sendable {
    /// The request to send instead of `request`.
    func modify(_ request: TransportRequest) async throws -> TransportRequest
}

/// Judges a response before any of its body is taken.
///
/// Called for responses of accepted status and type only, and again when a download is tried again.
public protocol ResponseValidator: Sendable {
    /// Returns if the body is wanted, throws if not.
    func validate(_ head: ResponseHead) async throws
}

/// Makes other bytes of the body as it arrives, such as what was encrypted.
///
/// Everything behind it sees the new bytes only: decoders, previews, ``ImageLoader/data(for:)``, limits. Interrupted downloads
/// start from zero then.
public protocol BodyTransform: Sendable {
    /// What transforms the body that follows `head`; nil to leave it as it is.
    func transformer(for head: ResponseHead) async throws -> (any BodyTransformer)?
}

/// Transforms one body, piece by piece; belongs to one download.
public protocol BodyTransformer {
    /// What comes out for the next bytes; may be nothing yet.
    mutating func transform(_ bytes: [UInt8]) async throws -> [UInt8]
    /// What is left at the end of the body; throws if that came too early.
    mutating func finish() async throws -> [UInt8]
}

/// Where an application may have its say in a download.
public enum DownloadHook: String, Sendable, Hashable {
    /// See ``RequestModifier``.
    case requestModifier
    /// See ``ResponseValidator``.
    case responseValidator
    /// See ``BodyTransform``.
    case bodyTransform
}
