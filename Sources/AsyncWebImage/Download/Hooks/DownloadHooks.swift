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

/// The hooks of a configuration.
struct DownloadHooks: Sendable {
    let modifier: (any RequestModifier)?
    let validator: (any ResponseValidator)?
    let transform: (any BodyTransform)?

    /// Nil if there are none, so that downloads need not pass by here.
    init?(_ configuration: DownloadConfiguration) {
        modifier = configuration.requestModifier
        validator = configuration.responseValidator
        transform = configuration.bodyTransform
        if modifier == nil, validator == nil, transform == nil { return nil }
    }

    func request(instead request: TransportRequest) async throws -> TransportRequest {
        guard let modifier else { return request }
        return try await asking(.requestModifier, request.url) { try await modifier.modify(request) }
    }

    func validate(_ head: ResponseHead) async throws {
        guard let validator else { return }
        try await asking(.responseValidator, head.url) { try await validator.validate(head) }
    }

    func transformer(for head: ResponseHead) async throws -> HookedTransformer? {
        guard let transform else { return nil }
        let transformer = try await asking(.bodyTransform, head.url) { try await transform.transformer(for: head) }
        return transformer.map { HookedTransformer(transformer: $0, url: head.url) }
    }
}

/// A transformer whose errors are those of a download.
struct HookedTransformer {
    fileprivate var transformer: any BodyTransformer
    fileprivate let url: HTTPURL

    mutating func transform(_ bytes: [UInt8]) async throws -> [UInt8] {
        do { return try await transformer.transform(bytes) } catch { throw refusal(error, by: .bodyTransform, url) }
    }

    mutating func finish() async throws -> [UInt8] {
        do { return try await transformer.finish() } catch { throw refusal(error, by: .bodyTransform, url) }
    }
}

private func asking<Result>(
    _ hook: DownloadHook, _ url: HTTPURL, _ body: () async throws -> Result
) async throws -> Result {
    do { return try await body() } catch { throw refusal(error, by: hook, url) }
}

/// An error of the library's own says what it means.
private func refusal(_ error: any Error, by hook: DownloadHook, _ url: HTTPURL) -> ImageError {
    (error as? ImageError) ?? .refused(by: hook, url: url.string, cause: error)
}
