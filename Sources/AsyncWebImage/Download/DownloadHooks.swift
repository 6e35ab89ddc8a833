import HTTPTransport

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
